"""What a node of some kind must look like in a model file: inputs, attributes, arrays, and what it yields.

A layer's file declares its kind beside the layer:

    class MyLayer(Layer):
        kind = Kind(expected, attributes={"stride": range(1, 17)})

`expected(node, inputs)` is given the node and what its inputs yield, and answers with the arrays that the node must
have (form and shape) and with what it yields; it raises Misfit where that cannot be. `modelfile/checks.py` compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bitreplay.engine.arithmetic.sliding_window import out_size
from bitreplay.engine.graph import Fixed, Node

ACTIVATION, SUMS, SIGNS, LOGITS = "activations", "sums", "signs", "logits"
REAL, WORDS, SHORT = "fixed", np.dtype(np.uint64), np.dtype(np.int16)
DECIMAL = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,6})?")

Allowed = range | tuple[str, ...] | re.Pattern[str]
Shape = tuple[int, int, int]
Arrays = dict[str, tuple[object, tuple[int, ...]]]

SLIDING: dict[str, Allowed] = {"stride": range(1, 17), "pad": range(0, 16)}


class InvalidNodeError(ValueError):
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

    An attribute is an integer of a range, one of some words, or a decimal number as text; all have defaults.
    """

    expected: Callable[[Node, list[Yield]], tuple[Arrays, Yield]]
    reads: tuple[tuple[str, ...], ...] = ((ACTIVATION,),)
    optional: int = 0
    attributes: dict[str, Allowed] = field(default_factory=dict)


def dimensions(node: Node, name: str, count: int) -> tuple[int, ...]:
    """The shape of an array that decides others, such as the weights' outputs and kernel."""
    array = node.arrays.get(name)
    if array is None:
        raise InvalidNodeError(f"lacks its array {name}")
    shape = array.values.shape if isinstance(array, Fixed) else array.shape
    if len(shape) != count or 0 in shape:
        raise InvalidNodeError(f"has an array {name} of shape {shape}; expected {count} dimensions")
    return shape


def number(node: Node, name: str, default: int) -> int:
    value = node.attributes.get(name, default)
    assert isinstance(value, int)
    return value


def behind_window(node: Node, x: Shape, kernel: int, stride: int = 1, pad: int = 0) -> tuple[int, int]:
    """Rows and columns behind a sliding window; `stride` and `pad` are the defaults."""
    stride, pad = number(node, "stride", stride), number(node, "pad", pad)
    after = number(node, "pad_after", pad)
    if max(pad, after) >= kernel or min(x[:2]) + pad + after < kernel:
        raise InvalidNodeError(f"has a kernel of {kernel} and a pad of {pad} for a map of {x[0]}x{x[1]}")
    return out_size(x[:2], kernel, stride, pad, after)


def per_channel(value: Yield, *names: str) -> Arrays:
    """Real numbers, one a channel."""
    return dict.fromkeys(names, (REAL, (value.channels,)))


def unchanged(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    """No arrays; the form and shape of what is read."""
    return {}, inputs[0]
