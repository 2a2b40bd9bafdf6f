"""What each PyTorch layer becomes: one table entry a layer, (kind, attributes, arrays) of an engine node.

Weights lie as (outputs, rows, columns, channels). Real numbers become integers with a binary point: gamma at Q3.28, or
coarser where it is 8 or more, so that a tail's master can grow; weights of real-valued layers in 16 bits; everything
else as fine as 32 bits allow. The engine's head keeps its masters at Q3.28 always: weights beyond are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.graph import Fixed
from bitreplay.torch.models.binarize import BinaryConv2d, ClippedSign, PolynomialSign, RPReLU, RSign
from bitreplay.torch.models.layers import Blur, GlobalAveragePool, PaddedMaxPool, SameConv2d, same_padding

MASTER_SHIFT = 28
WEIGHT_BITS = 16
FINEST_SHIFT = 60
HEAD_LIMIT = 8


class ConversionError(ValueError):
    """The module cannot be expressed; the message names the layer."""


class Concat(nn.Module):
    """Stands for torch.cat along channels."""


class LoweredLayer(NamedTuple):
    """An engine node without name and inputs. `offset` is a bias that the BatchNorm behind it must take in."""

    kind: str
    attributes: dict[str, int | str]
    arrays: dict[str, Fixed | NDArray]
    offset: NDArray[np.float64] | None = None


def real(x: Tensor) -> NDArray[np.float64]:
    return x.detach().cpu().double().numpy()


def fixed(x: NDArray[np.float64], bits: int = 32) -> Fixed:
    """Rounded to the finest binary point that fits, but none beyond FINEST_SHIFT."""
    if not np.isfinite(x).all():
        raise ConversionError("a parameter is not a finite number")
    fixed = Fixed.of(x, bits)
    return fixed if fixed.shift <= FINEST_SHIFT else at_shift(x, FINEST_SHIFT)


def at_shift(x: NDArray[np.float64], shift: int) -> Fixed:
    values = np.rint(x * 2.0**shift)
    if not np.isfinite(values).all() or np.abs(values).max(initial=0) >= 2**31:
        raise ConversionError(f"a parameter of {np.abs(x).max():g} is larger than its binary point allows")
    return Fixed(values.astype(np.int32), shift)


def square(value: Any, what: str) -> int:
    """The one number of a size that PyTorch may give per axis."""
    pair = (value, value) if isinstance(value, int) else tuple(value)
    if len(set(pair)) != 1:
        raise ConversionError(f"{what} is {value}; only equal sizes along both axes can be expressed")
    return int(pair[0])


def integer_conv(layer: nn.Conv2d, around: tuple[int, int] = (0, 0)) -> LoweredLayer:
    """`around` holds what a ZeroPad2d in front adds above and to the left, below and to the right."""
    if layer.padding_mode != "zeros" or square(layer.dilation, "dilation") != 1:
        raise ConversionError("dilation and padding with other than zeros cannot be expressed")
    if isinstance(layer.padding, str):
        raise ConversionError(f"padding {layer.padding!r} cannot be expressed; give a number")
    square(layer.kernel_size, "kernel_size")
    pad = square(layer.padding, "padding")
    attributes: dict[str, int | str] = {"stride": square(layer.stride, "stride"), "pad": pad + around[0]}
    if around[0] != around[1]:
        attributes["pad_after"] = pad + around[1]
    offset = None if layer.bias is None else real(layer.bias)
    if layer.groups == 1:
        weights = fixed(real(layer.weight).transpose(0, 2, 3, 1), WEIGHT_BITS)
        return LoweredLayer("integer_conv", attributes, {"weights": weights}, offset)
    if not layer.groups == layer.in_channels == layer.out_channels:
        raise ConversionError(f"{layer.groups} groups cannot be expressed; 1 or one for each channel can")
    return LoweredLayer("depthwise_conv", attributes, {"weights": fixed(real(layer.weight)[:, 0], WEIGHT_BITS)}, offset)


def same_conv(layer: SameConv2d, rows: int, columns: int) -> LoweredLayer:
    """The node for a map of so many rows and columns."""
    around = same_padding(rows, layer.kernel_size[0], layer.stride[0])
    if around != same_padding(columns, layer.kernel_size[0], layer.stride[0]):
        raise ConversionError(f"its padding differs between {rows} rows and {columns} columns")
    return integer_conv(layer, around)


def binary_conv(layer: BinaryConv2d) -> LoweredLayer:
    if not layer.binary_weights:
        raise ConversionError("its weights are still real-valued (first stage of pre-training)")
    attributes: dict[str, int | str] = {"stride": layer.stride, "pad": layer.padding, "padding": layer.pad_with}
    scale = real(layer.scale())
    if not (scale > 0).all():
        raise ConversionError("an output channel has only weights of 0")
    words = pack(real(layer.signs()).transpose(0, 2, 3, 1) > 0)
    return LoweredLayer("binary_conv", attributes, {"weights": words, "scale": fixed(scale)})


def batchnorm_arrays(
    gamma: NDArray[np.float64], beta: NDArray[np.float64], mean: NDArray[np.float64], sigma: NDArray[np.float64]
) -> dict[str, Fixed | NDArray]:
    return {
        "gamma": masters(gamma, room=1),
        "beta": masters(beta),
        "mean": fixed(mean),
        "inverse_sigma": fixed(1 / sigma),
    }


def batchnorm(layer: nn.BatchNorm2d, offset: NDArray[np.float64] | None = None) -> LoweredLayer:
    """`offset` is the bias of the convolution in front: (x + offset - mean) = x - (mean - offset)."""
    if layer.running_mean is None or layer.running_var is None:
        raise ConversionError("it keeps no running statistics")
    gamma = real(layer.weight) if layer.affine else np.ones(layer.num_features)
    beta = real(layer.bias) if layer.affine else np.zeros(layer.num_features)
    mean = real(layer.running_mean) - (0 if offset is None else offset)
    variance = real(layer.running_var) + layer.eps
    if not (variance > 0).all():
        raise ConversionError("a channel's variance is not above 0")
    sigma = np.sqrt(variance)
    return LoweredLayer("batchnorm", {}, batchnorm_arrays(gamma, beta, mean, sigma))


def rounding(channels: int, offset: NDArray[np.float64] | None) -> LoweredLayer:
    """A BatchNorm that does nothing but bring sums of a convolution to activations, adding the bias."""
    one, zero = np.ones(channels), np.zeros(channels)
    return LoweredLayer(
        "batchnorm", {"learns": 0}, batchnorm_arrays(one, zero if offset is None else offset, zero, one)
    )


def masters(x: NDArray[np.float64], room: int = 2) -> Fixed:
    """Learned numbers at Q3.28 where they may grow `room` fold, else with as many bits less as lets them grow twice."""
    if not np.isfinite(x).all():
        raise ConversionError("a parameter is not a finite number")
    largest = float(np.abs(x).max(initial=0.0))
    return at_shift(x, MASTER_SHIFT if largest < 8 / room else MASTER_SHIFT + 1 - int(np.floor(np.log2(largest))))


def zero_pad(layer: nn.ZeroPad2d) -> tuple[int, int]:
    left, right, top, bottom = layer.padding
    if left != top or right != bottom:
        raise ConversionError(f"padding {layer.padding} is not the same along both axes")
    return int(left), int(right)


def window_of(layer: nn.AvgPool2d | nn.MaxPool2d) -> dict[str, int | str]:
    if layer.ceil_mode:
        raise ConversionError("ceil_mode cannot be expressed")
    window, pad = square(layer.kernel_size, "kernel_size"), square(layer.padding, "padding")
    stride = window if layer.stride is None else square(layer.stride, "stride")
    attributes: dict[str, int | str] = {"window": window}
    return attributes if (stride, pad) == (window, 0) else attributes | {"stride": stride, "pad": pad}


def average_pool(layer: nn.AvgPool2d) -> LoweredLayer:
    if layer.divisor_override is not None or (square(layer.padding, "padding") and not layer.count_include_pad):
        raise ConversionError("a divisor other than the window's area cannot be expressed")
    return LoweredLayer("average_pool", window_of(layer), {})


def max_pool(layer: nn.MaxPool2d) -> LoweredLayer:
    if square(layer.dilation, "dilation") != 1 or layer.return_indices:
        raise ConversionError("dilation and indices cannot be expressed")
    return LoweredLayer("max_pool", window_of(layer), {})


def adaptive_average_pool(layer: nn.AdaptiveAvgPool2d) -> LoweredLayer:
    if layer.output_size not in (1, (1, 1)):
        raise ConversionError(f"output_size is {layer.output_size}; only 1 can be expressed")
    return LoweredLayer("average_pool", {"window": 0}, {})


def dense(layer: nn.Linear, map_shape: tuple[int, int, int]) -> LoweredLayer:
    """`map_shape` is (channels, height, width) of the map that was flattened; the engine flattens channels last."""
    weights = real(layer.weight).reshape(-1, *map_shape).transpose(0, 2, 3, 1).reshape(len(layer.weight), -1)
    bias = np.zeros(len(weights)) if layer.bias is None else real(layer.bias)
    for name, values in (("weight", weights), ("bias", bias)):
        largest = np.abs(values).max(initial=0.0)
        if largest >= HEAD_LIMIT:
            raise ConversionError(f"its largest {name} is {largest:g}; a head holds numbers below {HEAD_LIMIT}")
    return LoweredLayer("dense", {}, {"weights": fixed(weights, WEIGHT_BITS), "bias": fixed(bias, WEIGHT_BITS)})


def blur(layer: Blur, rows: int, columns: int) -> tuple[LoweredLayer, bool]:
    """The node for a map of so many rows and columns, and whether its first row and column must be dropped."""
    before, after = layer.padding_for(rows)
    if (before, after) != layer.padding_for(columns):
        raise ConversionError(f"its padding differs between {rows} rows and {columns} columns")
    uneven = before != after
    pad = before + layer.stride if uneven else before
    return LoweredLayer("blur_pool", {"stride": layer.stride, "pad": pad}, {}), uneven


def drop_first(channels: int) -> LoweredLayer:
    """The last of 2x2 values, which no bit width rounds: the map without its first row and column."""
    last = np.zeros((channels, 2, 2))
    last[:, 1, 1] = 1
    return LoweredLayer("depthwise_conv", {"stride": 1, "pad": 0, "learns": 0}, {"weights": fixed(last, WEIGHT_BITS)})


def rprelu(layer: RPReLU) -> LoweredLayer:
    names = ("shift", "slope", "offset")
    return LoweredLayer("rprelu", {}, {name: masters(real(getattr(layer, name))) for name in names})


def prelu(layer: nn.PReLU, channels: int) -> LoweredLayer:
    """PyTorch's one slope for all channels becomes one for each."""
    slope = real(layer.weight)
    return LoweredLayer("prelu", {}, {"slope": masters(np.resize(slope, channels) if len(slope) == 1 else slope)})


def clip(layer: nn.Hardtanh) -> LoweredLayer:
    if not layer.min_val <= 0 <= layer.max_val:
        raise ConversionError(f"it clips to {layer.min_val} .. {layer.max_val}, an interval without 0")
    return LoweredLayer("clip", {"low": str(layer.min_val), "high": str(layer.max_val)}, {})


# Layers whose node follows from the layer alone. The others need their surroundings: see convert_graph.
TABLE: dict[type[nn.Module], Callable[[Any], LoweredLayer]] = {
    BinaryConv2d: binary_conv,
    PolynomialSign: lambda layer: LoweredLayer("sign", {"derivative": "polynomial"}, {}),
    ClippedSign: lambda layer: LoweredLayer("sign", {"derivative": "clipped", "clip": str(layer.clip)}, {}),
    RSign: lambda layer: LoweredLayer("rsign", {}, {"threshold": masters(real(layer.threshold))}),
    RPReLU: rprelu,
    nn.ReLU: lambda layer: LoweredLayer("relu", {}, {}),
    nn.ReLU6: clip,
    nn.Hardtanh: clip,
    nn.MaxPool2d: max_pool,
    nn.AvgPool2d: average_pool,
    nn.AdaptiveAvgPool2d: adaptive_average_pool,
    GlobalAveragePool: lambda layer: LoweredLayer("average_pool", {"window": 0}, {}),
    PaddedMaxPool: lambda layer: LoweredLayer(
        "max_pool", {"window": layer.window, "stride": layer.stride, "pad": layer.padding}, {}
    ),
    Concat: lambda layer: LoweredLayer("concat", {}, {}),
}

# Layers that change nothing when the network is run.
TRANSPARENT = (nn.Identity, nn.Dropout, nn.Dropout2d, nn.Flatten)
