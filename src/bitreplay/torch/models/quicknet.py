"""QuickNet and QuickNetLarge: "Larq Compute Engine: Design, Benchmark, and Deploy State-of-the-Art Binarized Neural
Networks" (Bannink et al., MLSys 2021), as in Larq Zoo 2.4, so that its ImageNet weights fit.

Stem: 3x3 stride 2 to 16 -> BatchNorm -> ReLU -> depthwise 3x3 stride 2 -> BatchNorm without gamma and beta -> 1x1 to
64 -> BatchNorm. Both strided convolutions pad below and to the right alone, as TensorFlow's "same" does on even maps.
Residual block: sign -> binary 3x3 -> ReLU -> BatchNorm -> add. Sign and weights: straight through on |x| <= 1.25; no
factor; taps outside the map read +1. Transition: ReLU -> 2x2 max-pool of stride 1 -> 3x3 blur of stride 2 -> real 1x1
-> BatchNorm. Top: ReLU -> global average -> linear.

With `top`, which is ours, one more layer stands before the average: ReLU -> real 1x1 to that width -> BatchNorm, so
that a picture has more features than the last blocks have channels.

Larq Zoo feeds it (pixel - mean) / deviation a colour, we pixel / 127.5 - 1; `normalised` puts the difference in front.

Levels are named by the Keras layer whose input they are: `quant_conv2d_16` is the 1x1 of the last transition. Counting:
quant_conv2d and _1 are the stem, then 4 blocks _2.._5, transition _6, _7.._10, _11, _12.._15, _16, _17.._20.
QuickNetLarge has 6, 8, 12, 6 blocks, so its transitions are _8, _17 and _30.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor, nn

from bitreplay.torch.models.binarize import BinaryConv2d, ClippedSign
from bitreplay.torch.models.layers import Add, Blur, GlobalAveragePool

CLIP = 1.25


def stem(filters: int) -> nn.Sequential:
    quarter = filters // 4
    return nn.Sequential(
        nn.ZeroPad2d((0, 1, 0, 1)),
        nn.Conv2d(3, quarter, 3, 2, bias=False),
        nn.BatchNorm2d(quarter, eps=1e-3),
        nn.ReLU(),
        nn.ZeroPad2d((0, 1, 0, 1)),
        nn.Conv2d(quarter, quarter, 3, 2, groups=quarter, bias=False),
        nn.BatchNorm2d(quarter, eps=1e-3, affine=False),
        nn.Conv2d(quarter, filters, 1, bias=False),
        nn.BatchNorm2d(filters, eps=1e-3),
    )


def wider(channels: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.ReLU(), nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width))


class ResidualBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.sign = ClippedSign(CLIP)
        self.conv = BinaryConv2d(channels, channels, 3, pad_with="one", scaled=False, clip=CLIP)
        self.relu = nn.ReLU()
        self.norm = nn.BatchNorm2d(channels)
        self.add = Add()

    def forward(self, x: Tensor) -> Tensor:
        return self.add(self.norm(self.relu(self.conv(self.sign(x)))), x)


class Transition(nn.Module):
    """Halves the map and widens it. The output of `blur` is the replay layer."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 1)
        self.blur = Blur(in_channels, 2)
        self.conv = nn.Conv2d(in_channels, out_channels, 1, bias=False)
        self.norm = nn.BatchNorm2d(out_channels)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(self.blur(self.pool(self.relu(x)))))


class QuickNet(nn.Module):
    """Levels: `quant_conv2d_16` (7, 7, 256) and `quant_conv2d_11` (14, 14, 128) at 224; 4x4 and 8x8 at 128."""

    input_size: int = 128
    blocks: ClassVar[tuple[int, ...]] = (4, 4, 4, 4)
    replay_layers: ClassVar[dict[str, str]] = {
        "quant_conv2d_16": "transitions.2.blur",
        "quant_conv2d_11": "transitions.1.blur",
    }

    def __init__(
        self,
        classes: int = 200,
        widths: Sequence[int] = (64, 128, 256, 512),
        normalised: bool = False,
        size: int = 128,
        top: int = 0,
    ) -> None:
        super().__init__()
        self.input_size = size
        self.normalise = nn.BatchNorm2d(3, eps=0.0, affine=False) if normalised else nn.Identity()
        self.stem = stem(widths[0])
        self.sections = nn.ModuleList(
            nn.Sequential(*(ResidualBlock(width) for _ in range(count)))
            for count, width in zip(self.blocks, widths, strict=True)
        )
        self.transitions = nn.ModuleList(
            Transition(before, after) for before, after in zip(widths[:-1], widths[1:], strict=True)
        )
        self.top = wider(widths[-1], top) if top else nn.Identity()
        self.relu = nn.ReLU()
        self.pool = GlobalAveragePool()
        self.head = nn.Linear(top or widths[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.sections[0](self.stem(self.normalise(x)))
        for transition, section in zip(self.transitions, list(self.sections)[1:], strict=True):
            x = section(transition(x))
        return self.head(self.pool(self.relu(self.top(x))))


class QuickNetLarge(QuickNet):
    """Levels: `quant_conv2d_30` and `quant_conv2d_17`, shaped as QuickNet's two."""

    blocks: ClassVar[tuple[int, ...]] = (6, 8, 12, 6)
    replay_layers: ClassVar[dict[str, str]] = {
        "quant_conv2d_30": "transitions.2.blur",
        "quant_conv2d_17": "transitions.1.blur",
    }
