"""The ordinary layers that PyTorch lacks as modules, and the tracer that lists a model layer by layer."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F


class Add(nn.Module):
    """Sum of two maps of one shape. A module, so that a sum can be named, traced and used as a replay layer."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a + b


class GlobalAveragePool(nn.Module):
    """(N, C, H, W) -> (N, C), the mean over H and W."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=(2, 3))


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """What TensorFlow's "same" adds in front of and behind `size` values, for ceil(size / stride) outputs.

    >>> same_padding(7, 3, 2), same_padding(6, 3, 2), same_padding(224, 7, 2)
    ((1, 1), (0, 1), (2, 3))
    """
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


class SameConv2d(nn.Conv2d):
    """A convolution padded as TensorFlow's "same" pads the map at hand."""

    def forward(self, x: Tensor) -> Tensor:
        (top, bottom), (left, right) = (
            same_padding(x.shape[axis], self.kernel_size[0], self.stride[0]) for axis in (2, 3)
        )
        if top == bottom == left == right:
            return F.conv2d(x, self.weight, self.bias, self.stride, top, groups=self.groups)
        return F.conv2d(F.pad(x, (left, right, top, bottom)), self.weight, self.bias, self.stride, groups=self.groups)


class Blur(nn.Module):
    """Fixed 3x3 filter a channel, (1 2 1)^T (1 2 1) / 16: pooling without aliasing (Zhang, 2019).

    Taps outside read 0. Without `padding` (the same on all sides) it is TensorFlow's "same" for the map at hand.
    """

    kernel: Tensor

    def __init__(self, channels: int, stride: int = 2, padding: int | None = None) -> None:
        super().__init__()
        self.channels, self.stride, self.padding = channels, stride, padding
        row = torch.tensor([1.0, 2.0, 1.0])
        self.register_buffer("kernel", (torch.outer(row, row) / 16).expand(channels, 1, 3, 3).clone())

    def padding_for(self, size: int) -> tuple[int, int]:
        return same_padding(size, 3, self.stride) if self.padding is None else (self.padding, self.padding)

    def forward(self, x: Tensor) -> Tensor:
        (top, bottom), (left, right) = self.padding_for(x.shape[2]), self.padding_for(x.shape[3])
        around = top
        if not top == bottom == left == right:
            x, around = F.pad(x, (left, right, top, bottom)), 0
        return F.conv2d(x, self.kernel.to(x.dtype), stride=self.stride, padding=around, groups=self.channels)


class DropFirst(nn.Module):
    """Leaves out the first row and the first column.

    The engine's binary convolutions and pools pad alike on all sides, TensorFlow's "same" pads an even map one less in
    front when the stride is 2. Padded by a stride more than that, a layer yields these, behind a first row and column.
    """

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :, 1:, 1:]


class PaddedMaxPool(nn.Module):
    """Max-pool with padding up to a whole window less one, where PyTorch's stops at half of it; never chosen."""

    def __init__(self, window: int, stride: int, padding: int) -> None:
        super().__init__()
        self.window, self.stride, self.padding = window, stride, padding

    def forward(self, x: Tensor) -> Tensor:
        return F.max_pool2d(F.pad(x, (self.padding,) * 4, value=float("-inf")), self.window, self.stride)


def downsample(in_channels: int, out_channels: int) -> nn.Module:
    """The real-valued shortcut where a map halves: 2x2 average, 1x1 convolution, BatchNorm."""
    return nn.Sequential(
        nn.AvgPool2d(2, 2), nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels)
    )


class LayerTracer(fx.Tracer):
    """Stops at the layers of torch and of this package, so that a graph has one node per layer."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        package = __name__.rpartition(".")[0]
        ours = m.__module__ in (f"{package}.binarize", f"{package}.layers")
        return ours or super().is_leaf_module(m, module_qualified_name)


def trace(model: nn.Module) -> fx.GraphModule:
    """The model as a graph whose nodes are layers."""
    return fx.GraphModule(model, LayerTracer().trace(model))
