"""MobileNetV2, "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (Sandler et al., CVPR 2018), in plain layers.

Stem 3x3 stride 2 to 32, seventeen inverted residuals, 1x1 to 1280, global average, linear. A float network of the same
use as QuickNet: its last five blocks are what a float learner would train.
"""

from __future__ import annotations

from torch import Tensor, nn

# expansion, channels, repetitions, stride of the first
GROUPS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
STEM, TOP = 32, 1280
TRAINED_BLOCKS = 5
LEVEL_SHAPE = (96, 14, 14)  # in front of the last five blocks at 224x224


def blocks() -> list[tuple[int, int, int, int]]:
    """(channels in, expansion, channels out, stride) of each of the seventeen."""
    rows, channels = [], STEM
    for expansion, width, count, stride in GROUPS:
        for index in range(count):
            rows.append((channels, expansion, width, stride if index == 0 else 1))
            channels = width
    return rows


def conv_norm(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, relu: bool = True
) -> list[nn.Module]:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(outputs), *([nn.ReLU6(inplace=True)] if relu else [])]


class InvertedResidual(nn.Module):
    """1x1 up -> depthwise 3x3 -> 1x1 down, added to its input where the shapes agree."""

    def __init__(self, inputs: int, expansion: int, outputs: int, stride: int) -> None:
        super().__init__()
        wide = inputs * expansion
        up = conv_norm(inputs, wide, 1) if expansion > 1 else []
        self.body = nn.Sequential(
            *up, *conv_norm(wide, wide, 3, stride, wide), *conv_norm(wide, outputs, 1, relu=False)
        )
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.adds else self.body(x)


def top(classes: int) -> list[nn.Module]:
    return [*conv_norm(GROUPS[-1][1], TOP, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(TOP, classes)]


def network(classes: int = 1000) -> nn.Sequential:
    """Images (N, 3, 224, 224) -> logits."""
    return nn.Sequential(*conv_norm(3, STEM, 3, 2), *(InvertedResidual(*row) for row in blocks()), *top(classes)).eval()


def start() -> nn.Sequential:
    """Images (N, 3, 224, 224) -> (N, 96, 14, 14): all but the last five blocks."""
    return nn.Sequential(
        *conv_norm(3, STEM, 3, 2), *(InvertedResidual(*row) for row in blocks()[:-TRAINED_BLOCKS])
    ).eval()


def tail(classes: int) -> nn.Sequential:
    """(N, 96, 14, 14) -> logits: the last five blocks and the top, all of it learns."""
    return nn.Sequential(*(InvertedResidual(*row) for row in blocks()[-TRAINED_BLOCKS:]), *top(classes)).eval()
