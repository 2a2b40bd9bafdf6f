"""The stronger real-valued teacher: a wide pre-activation residual network (He et al., 2016; Zagoruyko and Komodakis,
2016) with squeeze-and-excitation (Hu et al., 2018), for images of 64x64.

Its stem keeps the map's size. Nine blocks in four groups, 96 to 768 channels: 28 million weights, 5.6 billion products
an image. It may read smaller images too: early epochs at 48x48 cost little more than half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from bitreplay.torch.models.layers import GlobalAveragePool

WIDTHS = (96, 192, 384, 768)
DEPTHS = (2, 2, 3, 2)
SQUEEZE = 16


class SqueezeExcite(nn.Module):
    """Each channel times a factor in (0, 1) that depends on the means of all of them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inner = max(4, channels // SQUEEZE)
        self.pool = GlobalAveragePool()
        self.gate = nn.Sequential(nn.Linear(channels, inner), nn.ReLU(), nn.Linear(inner, channels), nn.Sigmoid())

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gate(self.pool(x))[:, :, None, None]


class WideBlock(nn.Module):
    """BatchNorm, ReLU, 3x3, BatchNorm, ReLU, 3x3, gate, sum. Where the shape changes, the shortcut is a 2x2 average and
    a 1x1 convolution of the activated input."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(in_channels)
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False)
        self.gate = SqueezeExcite(out_channels)
        self.relu = nn.ReLU()
        self.shortcut: nn.Module | None = None
        if stride != 1 or in_channels != out_channels:
            average = nn.AvgPool2d(2, 2) if stride == 2 else nn.Identity()
            self.shortcut = nn.Sequential(average, nn.Conv2d(in_channels, out_channels, 1, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        active = self.relu(self.norm1(x))
        y = self.gate(self.conv2(self.relu(self.norm2(self.conv1(active)))))
        return y + (x if self.shortcut is None else self.shortcut(active))


class TeacherWide(nn.Module):
    """3x3 stem of stride 1, blocks, BatchNorm, ReLU, global average, linear head."""

    input_size: ClassVar[int] = 64
    replay_layers: ClassVar[dict[str, str]] = {}

    def __init__(self, classes: int = 200, widths: Sequence[int] = WIDTHS) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 3, padding=1, bias=False)
        blocks: list[nn.Module] = []
        channels = widths[0]
        for group, (width, depth) in enumerate(zip(widths, DEPTHS, strict=True)):
            for index in range(depth):
                blocks.append(WideBlock(channels, width, 2 if group > 0 and index == 0 else 1))
                channels = width
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()
        self.pool = GlobalAveragePool()
        self.head = nn.Linear(channels, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        with torch.no_grad():
            self.head.weight.mul_(0.1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.pool(self.relu(self.norm(self.blocks(self.stem(x))))))
