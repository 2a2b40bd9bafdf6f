"""What a node of each kind must look like: inputs, attributes, arrays, and the shape that it yields.

One table entry a kind. A check is given the node and what its inputs yield, and answers with the arrays that it expects
(form and shape) and with its own output. `docs/file-format.md` prints the same table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bitreplay.engine.bits import words_for
from bitreplay.engine.graph import Fixed, Node

ACTIVATION, SUMS, SIGNS, LOGITS = "activations", "sums", "signs", "logits"
REAL, WORDS, SHORT = "fixed", np.dtype(np.uint64), np.dtype(np.int16)
MOST_ELEMENTS = 1 << 26
DECIMAL = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,6})?")

Allowed = range | tuple[str, ...] | re.Pattern[str]

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
    """`reads` holds the forms allowed for each input, `optional` says how many of the last may be absent.

    An attribute is a whole number of a range, one of some words, or a decimal number as text; all have defaults.
    """

    check: Callable[[Node, list[Yield]], tuple[Spec, Yield]]
    reads: tuple[tuple[str, ...], ...] = ((ACTIVATION,),)
    optional: int = 0
    attributes: dict[str, Allowed] = field(default_factory=dict)


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


def slid(node: Node, x: Shape, kernel: int, stride: int = 1, pad: int = 0) -> tuple[int, int]:
    """Rows and columns behind a sliding window; `stride` and `pad` are the defaults."""
    stride, pad = number(node, "stride", stride), number(node, "pad", pad)
    after = number(node, "pad_after", pad)
    rows, columns = ((size + pad + after - kernel) // stride + 1 for size in x[:2])
    if max(pad, after) >= kernel or min(x[:2]) + pad + after < kernel:
        raise Misfit(f"has a kernel of {kernel} and a pad of {pad} for a map of {x[0]}x{x[1]}")
    return rows, columns


def image(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    colours = dimensions(node, "table", 2)[1]
    return {"table": (SHORT, (256, colours))}, Yield(ACTIVATION, (0, 0, colours))


def per_channel(value: Yield, *names: str) -> Spec:
    return dict.fromkeys(names, (REAL, (value.channels,)))


def integer_conv(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    outputs, kernel, _, _ = dimensions(node, "weights", 4)
    rows, columns = slid(node, inputs[0].shape, kernel)
    return (
        {"weights": (REAL, (outputs, kernel, kernel, inputs[0].channels))},
        Yield(SUMS, (rows, columns, outputs)),
    )


def depthwise_conv(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    _, kernel, _ = dimensions(node, "weights", 3)
    channels = inputs[0].channels
    shape = (*slid(node, inputs[0].shape, kernel), channels)
    return {"weights": (REAL, (channels, kernel, kernel))}, Yield(SUMS, shape)


def binary_conv(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    outputs, kernel, _, _ = dimensions(node, "weights", 4)
    channels = inputs[0].channels
    if channels * kernel * kernel >= 1 << 15:
        raise Misfit(f"sums {channels * kernel * kernel} signs; fewer than 32768 are expected")
    rows, columns = slid(node, inputs[0].shape, kernel, pad=1)
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
    return per_channel(inputs[0], *names), Yield(ACTIVATION, inputs[0].shape)


def sign(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    return {}, Yield(SIGNS, inputs[0].shape)


def rsign(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    return per_channel(inputs[0], "threshold"), Yield(SIGNS, inputs[0].shape)


def rprelu(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    return per_channel(inputs[0], "shift", "slope", "offset"), inputs[0]


def prelu(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    return per_channel(inputs[0], "slope"), inputs[0]


def same(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    """ReLU: the form and shape of what is read."""
    return {}, inputs[0]


def clip(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    if float(node.attributes.get("low", 0)) > 0 or float(node.attributes.get("high", 0)) < 0:
        raise Misfit("clips to an interval without 0")
    return {}, inputs[0]


def add(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    if inputs[0].shape != inputs[1].shape:
        raise Misfit(f"adds maps of shapes {inputs[0].shape} and {inputs[1].shape}")
    return {}, inputs[0]


def concat(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    height, width, _ = inputs[0].shape
    if any(value.shape[:2] != (height, width) for value in inputs):
        raise Misfit("joins maps of different sizes")
    return {}, Yield(ACTIVATION, (height, width, sum(value.channels for value in inputs)))


def pool(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    """Average pool (window 0: the whole map) and max-pool."""
    height, width, channels = inputs[0].shape
    window = number(node, "window", 0)
    if window == 0 and node.kind == "max_pool":
        raise Misfit("lacks its window")
    if window == 0:
        return {}, Yield(inputs[0].form, (1, 1, channels))
    return {}, Yield(inputs[0].form, (*slid(node, inputs[0].shape, window, window), channels))


def blur_pool(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    return {}, Yield(ACTIVATION, (*slid(node, inputs[0].shape, 3, 2, 1), inputs[0].channels))


def dense(node: Node, inputs: list[Yield]) -> tuple[Spec, Yield]:
    classes, _ = dimensions(node, "weights", 2)
    features = math.prod(inputs[0].shape)
    return {"weights": (REAL, (classes, features)), "bias": (REAL, (classes,))}, Yield(LOGITS, (1, 1, classes))


SLIDING: dict[str, Allowed] = {"stride": range(1, 17), "pad": range(0, 16)}
REAL_CONV: dict[str, Allowed] = SLIDING | {"pad_after": range(0, 16), "learns": range(0, 2)}
EITHER = ((ACTIVATION, SUMS),)

KINDS: dict[str, Kind] = {
    "image": Kind(image, reads=(), attributes={"scale_denominator": range(1, 1 << 16)}),
    "integer_conv": Kind(integer_conv, attributes=REAL_CONV),
    "depthwise_conv": Kind(depthwise_conv, attributes=REAL_CONV),
    "binary_conv": Kind(binary_conv, ((SIGNS,),), attributes=SLIDING | {"padding": ("zero", "one")}),
    "batchnorm": Kind(batchnorm, ((ACTIVATION, SUMS), (ACTIVATION,)), 1, {"learns": range(0, 2)}),
    "sign": Kind(sign, attributes={"derivative": ("polynomial", "clipped"), "clip": DECIMAL}),
    "rsign": Kind(rsign),
    "rprelu": Kind(rprelu),
    "prelu": Kind(prelu),
    "relu": Kind(same, EITHER),
    "clip": Kind(clip, attributes={"low": DECIMAL, "high": DECIMAL}),
    "add": Kind(add, ((ACTIVATION,), (ACTIVATION,))),
    "concat": Kind(concat, ((ACTIVATION,),) * 8, optional=6),
    "max_pool": Kind(pool, EITHER, attributes=SLIDING | {"window": range(1, 16)}),
    "average_pool": Kind(pool, attributes=SLIDING | {"window": range(0, 64)}),
    "blur_pool": Kind(blur_pool, attributes=SLIDING),
    "dense": Kind(dense, ((ACTIVATION, SIGNS),)),
}
POSITIVE = ("inverse_sigma", "scale")
