"""Sum of two activations with different scales: activations -> activations.

    stored y = y_zero + round( ((a - a_zero) a_factor + (b - b_zero) b_factor) / 2^shift )
    a_factor = a_scale / y_scale 2^shift, b_factor likewise;     g_a = g a_factor 2^-shift,  g_b = g b_factor 2^-shift

No record in the backward pass: the factors travel with the gradient to whoever reads it. Products stay below 2^60.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import binary_point, round_fraction, round_shift, saturate, wide
from bitreplay.engine.builder import Builder, Gradient, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import ACTIVATION, Arrays, InvalidNodeError, Kind, Yield
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation

FACTOR_BITS = 30


@operation("add", code=140, reads="a b", writes="y saturated",
           attributes="a_zero a_factor b_zero b_factor shift y_zero low high")  # fmt: skip
def add(t: Any, a: Any, run: Run) -> None:
    total = (wide(t.a) - a.a_zero) * a.a_factor + (wide(t.b) - a.b_zero) * a.b_factor
    y = round_shift(total, a.shift) + a.y_zero
    t.saturated[...] += np.count_nonzero((y < a.low) | (y > a.high))
    t.y[...] = saturate(y, a.low, a.high)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    if inputs[0].shape != inputs[1].shape:
        raise InvalidNodeError(f"adds maps of shapes {inputs[0].shape} and {inputs[1].shape}")
    return {}, inputs[0]


class Add(Layer):
    """Reads two activations of one shape, yields activations; needs a range. No arrays, no attributes."""

    kind = Kind(expected, ((ACTIVATION,), (ACTIVATION,)))

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        a, b = inputs
        name = self.node.name
        need(a.shape == b.shape, f"{name}: adds maps of {a.shape} and {b.shape}")
        y = c.activation_value(name, a.shape)
        assert a.activation is not None and b.activation is not None and y.activation is not None
        ratios = [term.activation.scale / y.activation.scale for term in (a, b) if term.activation]
        bits = min(FACTOR_BITS, 60 - max(a.bound, b.bound).bit_length())
        self._shift = binary_point(max(ratios), bits)
        self._factors = [round_fraction(ratio * Fraction(2) ** self._shift) for ratio in ratios]
        saturated = c.hold(c.buffer(f"{name}.saturated", np.int64, (1,), per_sample=False))
        c.emit("forward", "add", {"a": a.tensor, "b": b.tensor, "y": y.tensor, "saturated": saturated},
               a_zero=a.activation.zero, a_factor=self._factors[0], b_zero=b.activation.zero,
               b_factor=self._factors[1], shift=self._shift, y_zero=y.activation.zero, low=y.activation.low,
               high=y.activation.high)  # fmt: skip
        return y

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        gradient = c.stored_gradient(self.node.name)
        if gradient is None:
            return
        for source, factor in zip(self.node.inputs, self._factors, strict=True):
            if source in c.needs_gradient:
                c.contribute(source, Gradient(gradient.tensor, gradient.exponents, gradient.bound, factor, self._shift))
