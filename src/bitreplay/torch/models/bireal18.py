"""Bi-Real-18: "Bi-Real Net: Enhancing the Performance of 1-bit CNNs with Improved Representational Capability and
Advanced Training Algorithm" (Liu et al., ECCV 2018), with a stem for 32x32 images.

Block: sign -> binary 3x3 convolution -> BatchNorm -> add the shortcut. No other activation. Sign has the derivative
2 - 2|x|; weights are sign(w) mean|w| with the magnitude-aware gradient; taps outside the map count nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from bitreplay.torch.models.binarize import BinaryConv2d, PolynomialSign
from bitreplay.torch.models.layers import Add, downsample
from bitreplay.torch.models.resnet18_shape import WIDTHS, ResNet18Shape


class BiRealBlock(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.sign = PolynomialSign()
        self.conv = BinaryConv2d(in_channels, out_channels, 3, stride, magnitude_aware=True)
        self.norm = nn.BatchNorm2d(out_channels)
        self.shortcut = downsample(in_channels, out_channels) if stride == 2 else nn.Identity()
        self.add = Add()

    def forward(self, x: Tensor) -> Tensor:
        return self.add(self.norm(self.conv(self.sign(x))), self.shortcut(x))


class BiReal18(ResNet18Shape):
    """Levels: `add_12` (4, 4, 512), first sum of the last group; `add_8` (8, 8, 256), first sum of the third."""

    replay_layers: ClassVar[dict[str, str]] = {"add_12": "blocks.12.add", "add_8": "blocks.8.add"}

    def __init__(self, classes: int = 200, widths: Sequence[int] = WIDTHS) -> None:
        super().__init__(BiRealBlock, classes, widths)
