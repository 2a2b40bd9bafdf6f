"""The real-valued teacher: ResNet-18 (He et al., 2016) that sees the 64x64 image.

Its stem halves the map, so that it costs what a binary model at 32x32 costs, and yet it looks at four times the pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from bitreplay.torch.models.layers import Add, GlobalAveragePool, downsample
from bitreplay.torch.models.resnet18_shape import WIDTHS


class RealBlock(nn.Module):
    """Two 3x3 convolutions and one shortcut, ReLU after the first and after the sum."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(out_channels)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(out_channels)
        self.shortcut = downsample(in_channels, out_channels) if stride == 2 else nn.Identity()
        self.add = Add()
        self.relu2 = nn.ReLU()
        nn.init.zeros_(self.norm2.weight)  # a block starts as the identity

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm2(self.conv2(self.relu1(self.norm1(self.conv1(x)))))
        return self.relu2(self.add(y, self.shortcut(x)))


class Teacher18(nn.Module):
    """Stem of two 3x3 convolutions (strides 1 and 2), eight blocks, global average, linear head."""

    input_size: ClassVar[int] = 64
    replay_layers: ClassVar[dict[str, str]] = {}

    def __init__(self, classes: int = 200, widths: Sequence[int] = WIDTHS) -> None:
        super().__init__()
        half = widths[0] // 2
        self.stem = nn.Sequential(
            nn.Conv2d(3, half, 3, padding=1, bias=False),
            nn.BatchNorm2d(half),
            nn.ReLU(),
            nn.Conv2d(half, widths[0], 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(widths[0]),
            nn.ReLU(),
        )
        blocks: list[nn.Module] = []
        channels = widths[0]
        for group, width in enumerate(widths):
            blocks += [RealBlock(channels, width, 2 if group else 1), RealBlock(width, width, 1)]
            channels = width
        self.blocks = nn.Sequential(*blocks)
        self.pool, self.head = GlobalAveragePool(), nn.Linear(channels, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.pool(self.blocks(self.stem(x))))
