"""Larq Zoo's BiRealNet and BinaryResNetE18: Bi-Real-18's topology with an ImageNet stem and TensorFlow's padding.

BiRealNet (Liu et al., 2018): 7x7 stride 2 -> BatchNorm -> 3x3 max-pool of stride 2; blocks as in `bireal18.py`.
BinaryResNetE18 (Bethge et al., 2019): ReLU behind the stem's BatchNorm and a second BatchNorm behind its max-pool;
weights and activations are plain signs, straight through on |x| <= 1.25; ReLU before the global average. For images
below 50 pixels Larq Zoo builds it with a stem of one 3x3 convolution, and so do we where the file has one.

Every map whose layer has stride 2 is even, where TensorFlow's "same" pads below and to the right: (2, 3) around the
7x7, (0, 1) around the 3x3. See `DropFirst` for how the engine gets there. Layers are called in Keras's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from bitreplay.torch.models.binarize import BinaryConv2d, ClippedSign, PolynomialSign
from bitreplay.torch.models.layers import Add, DropFirst, GlobalAveragePool, PaddedMaxPool

WIDTHS = (64, 128, 256, 512)
CLIP = 1.25


class LarqBlock(nn.Module):
    """One binary convolution and its shortcut; `plain` as in BinaryResNetE18."""

    def __init__(self, in_channels: int, out_channels: int, stride: int, plain: bool, eps: float) -> None:
        super().__init__()
        self.sign = ClippedSign(CLIP) if plain else PolynomialSign()
        if plain:
            self.conv = BinaryConv2d(in_channels, out_channels, 3, stride, scaled=False, clip=CLIP)
        else:
            self.conv = BinaryConv2d(in_channels, out_channels, 3, stride, magnitude_aware=True)
        self.norm = nn.BatchNorm2d(out_channels, eps)
        self.halves = stride == 2
        if self.halves:
            self.conv.padding = 2
            self.drop = DropFirst()
            self.shortcut = nn.Sequential(nn.AvgPool2d(2, 2), nn.Conv2d(in_channels, out_channels, 1, bias=False))
            self.shortcut_norm = nn.BatchNorm2d(out_channels, eps)
        self.add = Add()

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(self.sign(x))
        if not self.halves:
            return self.add(self.norm(y), x)
        shortcut = self.shortcut(x)
        return self.add(self.drop(self.norm(y)), self.shortcut_norm(shortcut))


class LarqBiReal18(nn.Module):
    """Levels as in Bi-Real-18: `add_12` (7, 7, 512) and `add_8` (14, 14, 256) at 224."""

    replay_layers: ClassVar[dict[str, str]] = {"add_12": "blocks.12.add", "add_8": "blocks.8.add"}
    plain: ClassVar[bool] = False
    eps: ClassVar[float] = 1e-3

    def __init__(
        self, classes: int = 1000, widths: Sequence[int] = WIDTHS, size: int = 224, small_stem: bool = False
    ) -> None:
        super().__init__()
        self.input_size = size
        self.normalise = nn.BatchNorm2d(3, eps=0.0, affine=False)
        self.stem = self._small_stem(widths[0]) if small_stem else self._stem(widths[0])
        blocks, channels = [], widths[0]
        for group, width in enumerate(widths):
            for index in range(4):
                blocks.append(LarqBlock(channels, width, 2 if group and not index else 1, self.plain, self.eps))
                channels = width
        self.blocks = nn.Sequential(*blocks)
        self.relu = nn.ReLU() if self.plain else nn.Identity()
        self.pool = GlobalAveragePool()
        self.head = nn.Linear(channels, classes)

    def _stem(self, width: int) -> nn.Sequential:
        return nn.Sequential(
            nn.ZeroPad2d((2, 3, 2, 3)),
            nn.Conv2d(3, width, 7, 2, bias=False),
            nn.BatchNorm2d(width, self.eps),
            PaddedMaxPool(3, 2, 2),
            DropFirst(),
        )

    def _small_stem(self, width: int) -> nn.Sequential:
        return nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.pool(self.relu(self.blocks(self.stem(self.normalise(x))))))


class BinaryResNetE18(LarqBiReal18):
    plain: ClassVar[bool] = True
    eps: ClassVar[float] = 1e-5

    def _stem(self, width: int) -> nn.Sequential:
        first = list(super()._stem(width))
        return nn.Sequential(*first[:3], nn.ReLU(), *first[3:], nn.BatchNorm2d(width, self.eps))
