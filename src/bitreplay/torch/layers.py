"""The ordinary layers that PyTorch lacks as modules, and the tracer that lists a model layer by layer."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F


class Add(nn.Module):
    """Sum of two maps of one shape. A module, so that a sum can be named, traced and taken as a level."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a + b


class GlobalAveragePool(nn.Module):
    """(N, C, H, W) -> (N, C), the mean over H and W."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=(2, 3))


class Blur(nn.Module):
    """Fixed 3x3 filter a channel, (1 2 1)^T (1 2 1) / 16, padding 1: pooling without aliasing (Zhang, 2019)."""

    kernel: Tensor

    def __init__(self, channels: int, stride: int = 2) -> None:
        super().__init__()
        self.channels, self.stride = channels, stride
        row = torch.tensor([1.0, 2.0, 1.0])
        self.register_buffer("kernel", (torch.outer(row, row) / 16).expand(channels, 1, 3, 3).clone())

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.kernel.to(x.dtype), stride=self.stride, padding=1, groups=self.channels)


def downsample(in_channels: int, out_channels: int) -> nn.Module:
    """The real-valued shortcut where a map halves: 2x2 average, 1x1 convolution, BatchNorm."""
    return nn.Sequential(
        nn.AvgPool2d(2, 2), nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels)
    )


class LayerTracer(fx.Tracer):
    """Stops at torch's own layers and at this package's, so that a graph has one node a layer."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        package = __name__.rpartition(".")[0]
        ours = m.__module__ in (f"{package}.binarize", f"{package}.layers")
        return ours or super().is_leaf_module(m, module_qualified_name)


def trace(model: nn.Module) -> fx.GraphModule:
    """The model as a graph whose nodes are layers."""
    return fx.GraphModule(model, LayerTracer().trace(model))
