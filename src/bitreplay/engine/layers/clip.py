"""Clip to an interval, and ReLU: activations -> activations, or (ReLU) exact sums -> exact sums.

    forward    stored y = clip( y_zero + round((x - x_zero) m / 2^s), low, high ),   m / 2^s = x_scale / y_scale
    backward   g_x = g m 2^-s where x lies inside the interval, else 0

The derivative at either end is 0, as PyTorch's ReLU, ReLU6 and Hardtanh have it. Sums keep their integers (m = 1,
s = 0): there y > 0 just where x > 0, so that the backward pass looks at y and x need not be kept.

Where y is stored as x is and the interval cuts off nothing that x can store, y is x: there is no operation.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bitreplay.engine.arithmetic.fixedpoint import Multiplier, round_fraction, round_shift, saturate, wide
from bitreplay.engine.arithmetic.quant import quantise_samples
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import DECIMAL, Arrays, InvalidNodeError, Kind, Yield
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation

UNBOUNDED = 1 << 32


@operation("clip", code=130, reads="x", writes="y", attributes="x_zero mantissa shift y_zero low high")
def clip(t: Any, a: Any, run: Run) -> None:
    y = round_shift((wide(t.x) - a.x_zero) * a.mantissa, a.shift) + a.y_zero
    t.y[...] = saturate(y, a.low, a.high)


@operation("clip_input_grad", code=131, reads="g e x", writes="gx ex", attributes="above below mantissa shift bits")
def clip_input_grad(t: Any, a: Any, run: Run) -> None:
    inside = (t.x > a.above) & (t.x < a.below)
    t.gx[...], t.ex[...] = quantise_samples(inside * (wide(t.g) * a.mantissa), wide(t.e) - a.shift, a.bits)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    if Fraction(node.attributes.get("low", 0)) > 0 or Fraction(node.attributes.get("high", 0)) < 0:
        raise InvalidNodeError("clips to an interval without 0")
    return {}, inputs[0]


class Clip(Layer):
    """Reads and yields activations; needs a range.

    Attributes: low, high, decimal numbers as text ("-1.5"); either may be absent.
    """

    kind = Kind(expected, attributes={"low": DECIMAL, "high": DECIMAL})

    def _limit(self, name: str) -> Fraction | None:
        text = self.node.attributes.get(name)
        return None if text is None else Fraction(str(text))

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        low, high, spec = self._limit("low"), self._limit("high"), c.activation(self.node.name)
        assert x.activation is not None, f"{self.node.name} reads activations"
        lowest = spec.low if low is None else max(spec.low, round_fraction(low / spec.scale) + spec.zero)
        highest = spec.high if high is None else min(spec.high, round_fraction(high / spec.scale) + spec.zero)
        need(lowest <= highest, f"{self.node.name}: the interval lies outside its range")
        scale, zero = x.activation.scale, x.activation.zero
        # x > low  <=>  stored - zero > floor(low / scale);   x < high  <=>  stored - zero < ceil(high / scale)
        above = -UNBOUNDED if low is None else low // scale + zero
        below = UNBOUNDED if high is None else -(-high // scale) + zero
        self._inside = {"above": above, "below": below}
        self._looks_at = x.tensor
        self._scales = Multiplier.of(scale / spec.scale)
        if x.activation == spec and (lowest, highest) == (spec.low, spec.high):
            c.reshaped(x.tensor, self.node.name, x.shape)
            return x
        y = c.activation_value(self.node.name, x.shape)
        self._emit(c, x, y, lowest, highest)
        return y

    def _multiplier(self) -> dict[str, int]:
        return {"mantissa": self._scales.mantissa, "shift": self._scales.shift}

    def _emit(self, c: Builder, x: Value, y: Value, low: int, high: int) -> None:
        zeros = {"x_zero": x.activation.zero if x.activation else 0, "y_zero": y.activation.zero if y.activation else 0}
        c.emit("forward", "clip", {"x": x.tensor, "y": y.tensor}, low=low, high=high, **zeros, **self._multiplier())

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        (x,), (source,) = inputs, self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None or source not in c.needs_gradient:
            return
        need(gradient.bound + 31 <= 62, f"{self.node.name}: products must fit 62 bits")
        result = c.gradient_buffers(source, x.shape)
        c.emit("backward", "clip_input_grad",
               {"g": gradient.tensor, "e": gradient.exponents, "x": self._looks_at, "gx": result.tensor,
                "ex": result.exponents}, bits=c.bits.backward_other, **self._inside, **self._multiplier())  # fmt: skip
        c.contribute(source, result)
