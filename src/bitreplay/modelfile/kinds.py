"""What a node of each kind must look like: inputs, attributes, arrays, and the shape that it yields.

One table entry a kind. A check is given the node and what its inputs yield, and answers with the arrays that it expects
(form and shape) and with its own output. `docs/file-format.md` prints the same table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bitreplay.engine.bits import words_for
from bitreplay.engine.graph import Fixed, Node

ACTIVATION, SUMS, SIGNS, LOGITS = "activations", "sums", "signs", "logits"
REAL, WORDS, SHORT = "fixed", np.dtype(np.uint64), np.dtype(np.int16)
MOST_ELEMENTS = 1 << 26

Shape = tuple[int, int, int]
Spec = dict[str, tuple[object, tuple[int, ...]]]


class Misfit(ValueError):
    """A node that does not fit; the reader adds the names."""


@dataclass(frozen=True)
class Yield:
    form: str
    shape: Shape

    @property
    def channels(self) -> int:
        return self.shape[2]


@dataclass(frozen=True)
class Kind:
    """`reads` holds the forms allowed for each input, `optional` says how many of the last may be absent."""

    check: Callable[[Node, list[Yield]], tuple[Spec, Yield]]
    reads: tuple[tuple[str, ...], ...] = ((ACTIVATION,),)
    optional: int = 0
    attributes: dict[str, range | tuple[str, ...]] = field(default_factory=dict)


def dimensions(node: Node, name: str, count: int) -> tuple[int, ...]:
    """The shape of an array that decides others, such as the weights' outputs and kernel."""
    array = node.arrays.get(name)
    if array is None:
        raise Misfit(f"lacks its array {name}")
    shape = array.values.shape if isinstance(array, Fixed) else array.shape
    if len(shape) != count or 0 in shape:
        raise Misfit(f"has an array {name} of shape {shape}; expected {count} dimensions")
    return shape


def number(node: Node, name: str, default: int) -> int:
    value = node.attributes.get(name, default)
    assert isinstance(value, int)
    return value


def slid(node: Node, x: Shape, kernel: int, default_pad: int) -> tuple[int, int]:
    """Rows and columns behind a sliding window."""
    stride, pad = number(node, "stride", 1), number(node, "pad", default_pad)
    rows, columns = ((size + 2 * pad - kernel) // stride + 1 for size in x[:2])
    if pad >= kernel or min(x[:2]) + 2 * pad < kernel:
        raise Misfit(f"has a kernel of {kernel} and a pad of {pad} for a map of {x[0]}x{x[1]}")
    return rows, columns


def image(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    colours = dimensions(node, "table", 2)[1]
    return {"table": (SHORT, (256, colours))}, Yield(ACTIVATION, (0, 0, colours))


def integer_conv(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    outputs, kernel, _, _ = dimensions(node, "weights", 4)
    rows, columns = slid(node, inputs[0].shape, kernel, 0)
    return (
        {"weights": (REAL, (outputs, kernel, kernel, inputs[0].channels))},
        Yield(SUMS, (rows, columns, outputs)),
    )


def binary_conv(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    outputs, kernel, _, _ = dimensions(node, "weights", 4)
    channels = inputs[0].channels
    if channels * kernel * kernel >= 1 << 15:
        raise Misfit(f"sums {channels * kernel * kernel} signs; fewer than 32768 are expected")
    rows, columns = slid(node, inputs[0].shape, kernel, 1)
    words = (outputs, kernel, kernel, words_for(channels))
    weights = node.arrays["weights"]
    if isinstance(weights, np.ndarray) and weights.shape == words and weights.dtype == WORDS and channels % 64:
        if (weights[..., -1] >> np.uint64(channels % 64)).any():
            raise Misfit("has weights whose padding bits are not 0")
    return {"weights": (WORDS, words), "scale": (REAL, (outputs,))}, Yield(SUMS, (rows, columns, outputs))


def batchnorm(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    if len({value.shape for value in inputs}) > 1:
        raise Misfit(f"adds maps of shapes {inputs[0].shape} and {inputs[1].shape}")
    names = ("gamma", "beta", "mean", "inverse_sigma")
    return dict.fromkeys(names, (REAL, (inputs[0].channels,))), Yield(ACTIVATION, inputs[0].shape)


def sign(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    return {}, Yield(SIGNS, inputs[0].shape)


def average_pool(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    height, width, channels = inputs[0].shape
    window = number(node, "window", 0)
    if window > min(height, width):
        raise Misfit(f"has a window of {window} for a map of {height}x{width}")
    shape = (height // window, width // window, channels) if window else (1, 1, channels)
    return {}, Yield(ACTIVATION, shape)


def dense(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    classes, _ = dimensions(node, "weights", 2)
    features = math.prod(inputs[0].shape)
    return {"weights": (REAL, (classes, features)), "bias": (REAL, (classes,))}, Yield(LOGITS, (1, 1, classes))


SLIDING: dict[str, range | tuple[str, ...]] = {"stride": range(1, 17), "pad": range(0, 16)}

KINDS: dict[str, Kind] = {
    "image": Kind(image, reads=(), attributes={"scale_denominator": range(1, 1 << 16)}),
    "integer_conv": Kind(integer_conv, attributes=SLIDING),
    "binary_conv": Kind(binary_conv, ((SIGNS,),), attributes=SLIDING | {"padding": ("zero", "one")}),
    "batchnorm": Kind(batchnorm, ((ACTIVATION, SUMS), (ACTIVATION,)), optional=1),
    "sign": Kind(sign, attributes={"derivative": ("polynomial",)}),
    "average_pool": Kind(average_pool, attributes={"window": range(0, 1 << 10)}),
    "dense": Kind(dense),
}
POSITIVE = ("inverse_sigma", "scale")
