"""The body shared by Bi-Real-18, ReAct-18: ResNet-18 with a shortcut around every 3x3 convolution.

Stem for 32x32 images (3x3, stride 1, no max-pool) or for 64x64 (5x5, stride 2): either way the first map is 32x32. 16
blocks of one binary convolution each in four groups, global average, linear head. Block i ends in the sum that Keras
counts as `add_i` (`add` for i = 0).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from torch import Tensor, nn

from bitreplay.torch.models.layers import GlobalAveragePool

WIDTHS = (64, 128, 256, 512)
STEMS = {32: (3, 1), 64: (5, 2)}  # kernel and stride for each size of images


class ResNet18Shape(nn.Module):
    """stem -> blocks[0..15] -> pool -> head, with blocks made by `make_block(in, out, stride)`."""

    input_size: ClassVar[int] = 32
    replay_layers: ClassVar[dict[str, str]] = {}

    def __init__(
        self, make_block: Callable[[int, int, int], nn.Module], classes: int, widths: Sequence[int] = WIDTHS
    ) -> None:
        super().__init__()
        kernel, stride = STEMS[self.input_size]
        first = nn.Conv2d(3, widths[0], kernel, stride, padding=kernel // 2, bias=False)
        self.stem = nn.Sequential(first, nn.BatchNorm2d(widths[0]))
        blocks: list[nn.Module] = []
        channels = widths[0]
        for group, width in enumerate(widths):
            for index in range(4):
                stride = 2 if group > 0 and index == 0 else 1
                blocks.append(make_block(channels, width, stride))
                channels = width
        self.blocks = nn.Sequential(*blocks)
        self.pool, self.head = GlobalAveragePool(), nn.Linear(channels, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.pool(self.blocks(self.stem(x))))
