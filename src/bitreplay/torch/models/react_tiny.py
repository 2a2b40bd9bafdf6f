"""ReActTiny: ReAct-18's blocks in a network for microcontrollers, with a model file of at most 350 KB.

Weights lie where maps are small and working memory where they are large: at 32x32 a map has 32 channels, so that one
image passes in 170 KB. A model file holds weights of binary convolutions in words of 64 channels, real-valued ones in
16 bits, and some 40 bytes of tables a channel and block; so later widths are multiples of 64, and between the last two
groups, of one width, the shortcut is a plain 2x2 average without a real-valued convolution. 128 features keep the sums
that a device learns from small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from bitreplay.torch.models.layers import GlobalAveragePool
from bitreplay.torch.models.react18 import ReActBlock

WIDTHS = (32, 64, 128, 128)
DEPTHS = (3, 4, 4, 4)


class ReActTiny(nn.Module):
    """stem -> blocks[0..14] -> pool -> head. Level: `add_11` (4, 4, 128), first sum of the last group."""

    input_size: ClassVar[int] = 32
    replay_layers: ClassVar[dict[str, str]] = {"add_11": "blocks.11.add"}

    def __init__(self, classes: int = 200, widths: Sequence[int] = WIDTHS) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, widths[0], 3, padding=1, bias=False), nn.BatchNorm2d(widths[0]))
        blocks: list[nn.Module] = []
        channels = widths[0]
        for group, (width, depth) in enumerate(zip(widths, DEPTHS, strict=True)):
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
