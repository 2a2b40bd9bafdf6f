"""VGG-Small: the six-convolution net of "Binarized Neural Networks" (Courbariaux et al., 2016) with one linear layer.

128C3 - 128C3 - MP2 - 256C3 - 256C3 - MP2 - 512C3 - 512C3 - MP2 - head. The first convolution and the head are
real-valued. Order: convolution -> (max-pool) -> BatchNorm -> sign with the clipped straight-through derivative; weights
sign(w), no factor. The last BatchNorm is followed by sign too, so that the head reads +-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from bitreplay.torch.models.binarize import BinaryConv2d, ClippedSign


class VggStage(nn.Module):
    """Convolution number `index` (from 1), with a max-pool after the even ones."""

    def __init__(self, index: int, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv = (
            nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False)
            if index == 1
            else BinaryConv2d(in_channels, out_channels, 3, scaled=False)
        )
        self.pool = nn.MaxPool2d(2, 2) if index % 2 == 0 else nn.Identity()
        self.norm = nn.BatchNorm2d(out_channels)
        self.sign = ClippedSign()

    def forward(self, x: Tensor) -> Tensor:
        return self.sign(self.norm(self.pool(self.conv(x))))


class VggSmall(nn.Module):
    """Level: `conv_5` (8, 8, 512), the fifth convolution before its BatchNorm."""

    input_size: ClassVar[int] = 32
    replay_layers: ClassVar[dict[str, str]] = {"conv_5": "stages.4.conv"}

    def __init__(self, classes: int = 200, widths: Sequence[int] = (128, 256, 512), size: int = 32) -> None:
        super().__init__()
        stages: list[nn.Module] = []
        channels = 3
        for index in range(1, 7):
            width = widths[(index - 1) // 2]
            stages.append(VggStage(index, channels, width))
            channels = width
        self.stages = nn.Sequential(*stages)
        self.flatten = nn.Flatten()
        self.head = nn.Linear(channels * (size // 8) ** 2, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.flatten(self.stages(x)))
