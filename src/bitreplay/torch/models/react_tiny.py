"""ReActTiny: ReAct-18's blocks in a network for microcontrollers, with a model file of at most 350 KB.

Weights lie where maps are small and working memory where they are large: at 32x32 a map has 32 channels, so that one
image passes in 170 KB. A model file holds weights of binary convolutions in words of 64 channels, real-valued ones in
16 bits, and some 40 bytes of tables a channel and block; so later widths are multiples of 64, and between the last two
groups, of one width, the shortcut is a plain 2x2 average without a real-valued convolution. 128 features keep the sums
that a device learns from small.

For 64x64 pictures the stem is 5x5 of stride 2, so that the maps are the same, and the last group has two blocks more,
which cost flash and no working memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from bitreplay.torch.models.layers import GlobalAveragePool
from bitreplay.torch.models.react18 import ReActBlock
from bitreplay.torch.models.resnet18_shape import STEMS

WIDTHS = (32, 64, 128, 128)
DEPTHS = {32: (3, 4, 4, 4), 64: (3, 4, 4, 6)}  # by the size of pictures


class ReActTiny(nn.Module):
    """stem -> blocks -> pool -> head. Level: `add_11` (4, 4, 128), first sum of the last group."""

    input_size: int = 32
    replay_layers: ClassVar[dict[str, str]] = {"add_11": "blocks.11.add"}

    def __init__(self, classes: int = 200, widths: Sequence[int] = WIDTHS, size: int = 32) -> None:
        super().__init__()
        if size not in STEMS:
            raise ValueError(f"react_tiny reads pictures of {' or '.join(map(str, STEMS))} pixels, not of {size}.")
        self.input_size, (kernel, stride) = size, STEMS[size]
        first = nn.Conv2d(3, widths[0], kernel, stride, padding=kernel // 2, bias=False)
        self.stem = nn.Sequential(first, nn.BatchNorm2d(widths[0]))
        blocks: list[nn.Module] = []
        channels = widths[0]
        for group, (width, depth) in enumerate(zip(widths, DEPTHS[size], strict=True)):
            for index in range(depth):
                halves = group > 0 and index == 0
                block = ReActBlock(channels, width, 2 if halves else 1)
                if halves and width == channels:
                    block.shortcut = nn.AvgPool2d(2, 2)
                blocks.append(block)
                channels = width
        self.blocks = nn.Sequential(*blocks)
        self.pool, self.head = GlobalAveragePool(), nn.Linear(channels, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.pool(self.blocks(self.stem(x))))
