"""What each PyTorch layer becomes: one table entry a layer, (kind, attributes, arrays) of an engine node.

Weights lie as (outputs, rows, columns, channels). Real numbers become integers with a binary point: gamma at Q3.28, so
that a tail's master can grow; weights of real-valued layers in 16 bits; everything else as fine as 32 bits allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from bitreplay.engine.bits import pack
from bitreplay.engine.graph import Fixed

from .binarize import BinaryConv2d, PolynomialSign
from .layers import GlobalAveragePool

MASTER_SHIFT = 28
WEIGHT_BITS = 16
FINEST_SHIFT = 60


class ConversionError(ValueError):
    """The module cannot be expressed; the message names the layer."""


class Made(NamedTuple):
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
    found = Fixed.of(x, bits)
    return found if found.shift <= FINEST_SHIFT else at_shift(x, FINEST_SHIFT)


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


def integer_conv(layer: nn.Conv2d) -> Made:
    if layer.groups != 1 or layer.padding_mode != "zeros" or square(layer.dilation, "dilation") != 1:
        raise ConversionError("groups, dilation and padding other than zeros cannot be expressed")
    square(layer.kernel_size, "kernel_size")
    if isinstance(layer.padding, str):
        raise ConversionError(f"padding {layer.padding!r} cannot be expressed; give a number")
    attributes: dict[str, int | str] = {
        "stride": square(layer.stride, "stride"), "pad": square(layer.padding, "padding"),
    }  # fmt: skip
    weights = fixed(real(layer.weight).transpose(0, 2, 3, 1), WEIGHT_BITS)
    return Made("integer_conv", attributes, {"weights": weights}, None if layer.bias is None else real(layer.bias))


def binary_conv(layer: BinaryConv2d) -> Made:
    if not layer.binary_weights:
        raise ConversionError("its weights are still real-valued (first stage of pre-training)")
    attributes: dict[str, int | str] = {"stride": layer.stride, "pad": layer.padding, "padding": layer.pad_with}
    scale = real(layer.scale())
    if not (scale > 0).all():
        raise ConversionError("an output channel has only weights of 0")
    words = pack(real(layer.signs()).transpose(0, 2, 3, 1) > 0)
    return Made("binary_conv", attributes, {"weights": words, "scale": fixed(scale)})


def batchnorm_arrays(
    gamma: NDArray[np.float64], beta: NDArray[np.float64], mean: NDArray[np.float64], sigma: NDArray[np.float64]
) -> dict[str, Fixed | NDArray]:
    """Beta has Q3.28 too, or fewer bits behind the point where it needs room to grow beyond twice its size."""
    largest = float(np.abs(beta).max(initial=0.0))
    beta_shift = MASTER_SHIFT if largest < 4 else MASTER_SHIFT + 1 - int(np.floor(np.log2(largest)))
    return {
        "gamma": at_shift(gamma, MASTER_SHIFT),
        "beta": at_shift(beta, beta_shift),
        "mean": fixed(mean),
        "inverse_sigma": fixed(1 / sigma),
    }


def batchnorm(layer: nn.BatchNorm2d, offset: NDArray[np.float64] | None = None) -> Made:
    """`offset` is the bias of the convolution in front: (x + offset - mean) = x - (mean - offset)."""
    if layer.running_mean is None or layer.running_var is None:
        raise ConversionError("it keeps no running statistics")
    gamma = real(layer.weight) if layer.affine else np.ones(layer.num_features)
    beta = real(layer.bias) if layer.affine else np.zeros(layer.num_features)
    mean = real(layer.running_mean) - (0 if offset is None else offset)
    sigma = np.sqrt(real(layer.running_var) + layer.eps)
    return Made("batchnorm", {}, batchnorm_arrays(gamma, beta, mean, sigma))


def rounding(channels: int, offset: NDArray[np.float64] | None) -> Made:
    """A BatchNorm that does nothing but bring sums of a convolution to activations, adding the bias."""
    one, zero = np.ones(channels), np.zeros(channels)
    return Made("batchnorm", {}, batchnorm_arrays(one, zero if offset is None else offset, zero, one))


def average_pool(layer: nn.AvgPool2d) -> Made:
    window = square(layer.kernel_size, "kernel_size")
    if square(layer.stride, "stride") != window or square(layer.padding, "padding") or layer.ceil_mode:
        raise ConversionError("windows that overlap or reach outside the map cannot be expressed")
    return Made("average_pool", {"window": window}, {})


def adaptive_average_pool(layer: nn.AdaptiveAvgPool2d) -> Made:
    if layer.output_size not in (1, (1, 1)):
        raise ConversionError(f"output_size is {layer.output_size}; only 1 can be expressed")
    return Made("average_pool", {"window": 0}, {})


def dense(layer: nn.Linear, map_shape: tuple[int, int, int]) -> Made:
    """`map_shape` is (channels, height, width) of the map that was flattened; the engine flattens channels last."""
    weights = real(layer.weight).reshape(-1, *map_shape).transpose(0, 2, 3, 1).reshape(len(layer.weight), -1)
    bias = np.zeros(len(weights)) if layer.bias is None else real(layer.bias)
    return Made("dense", {}, {"weights": fixed(weights, WEIGHT_BITS), "bias": fixed(bias, WEIGHT_BITS)})


# Layers whose node follows from the layer alone. BatchNorm, Add and Linear need their surroundings: see convert_graph.
TABLE: dict[type[nn.Module], Callable[[Any], Made]] = {
    nn.Conv2d: integer_conv,
    BinaryConv2d: binary_conv,
    PolynomialSign: lambda layer: Made("sign", {"derivative": "polynomial"}, {}),
    nn.AvgPool2d: average_pool,
    nn.AdaptiveAvgPool2d: adaptive_average_pool,
    GlobalAveragePool: lambda layer: Made("average_pool", {"window": 0}, {}),
}

# Layers that change nothing when the network is run.
TRANSPARENT = (nn.Identity, nn.Dropout, nn.Dropout2d, nn.Flatten)
