"""PReLU between two learned shifts (RPReLU of ReActNet), and PReLU itself: activations -> activations.

    y = p(x - s) + o,   p(z) = z where z > 0, else b z            s, b, o learned, one each per channel
    ds = -sum g p'      db = sum g min(z, 0)      do = sum g      g_x = g p'

Whole numbers: z = (stored - zero) 2^point - S with S = s 2^point / x_scale,
    stored y = y_zero + round( (z A + O) / 2^shift ),  A = one where z > 0, else B
    one = x_scale / (y_scale 2^point) 2^shift,  B = b one,  O = o / y_scale 2^shift
|z A| < 2^60 and |O| < 2^61. The sums of ds, db and do are int64 and are never rounded to q_b bits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Int64, binary_point, round_fraction, round_shift, saturate, wide
from bitreplay.engine.arithmetic.quant import NO_GRADIENT, merge_samples, quantise_samples
from bitreplay.engine.builder import Builder, Gradient, Value
from bitreplay.engine.graph import Fixed, Node
from bitreplay.engine.kind import Arrays, Kind, Yield, per_channel
from bitreplay.engine.layers.batchnorm import OFFSET_LIMIT
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.layers.learned import LearnedNumbers
from bitreplay.engine.operations import Run, operation

POINT = 12
SHIFT_ROOM = 1
SLOPE_ROOM = 3


def position(x: np.ndarray, s: np.ndarray, a: Any) -> Int64:
    """z, in units of 2^-point of a stored unit."""
    return ((wide(x) - a.x_zero) << a.point) - wide(s)


@operation(
    "rprelu", code=120, reads="x s b o", writes="y saturated", attributes="x_zero point one shift y_zero low high"
)
def rprelu(t: Any, a: Any, run: Run) -> None:
    z = position(t.x, t.s, a)
    y = round_shift(z * np.where(z > 0, a.one, wide(t.b)) + t.o, a.shift) + a.y_zero
    t.saturated[...] += np.count_nonzero((y < a.low) | (y > a.high))
    t.y[...] = saturate(y, a.low, a.high)


@operation("rprelu_input_grad", code=121, reads="g e x s b", writes="gx ex", attributes="x_zero point one shift bits")
def rprelu_input_grad(t: Any, a: Any, run: Run) -> None:
    slope = np.where(position(t.x, t.s, a) > 0, a.one, wide(t.b))
    t.gx[...], t.ex[...] = quantise_samples(wide(t.g) * slope, wide(t.e) - (a.shift - a.point), a.bits)


@operation("rprelu_param_grad", code=122, reads="g e x s b", writes="ps? pb po? pe",
           attributes="x_zero point one slope_down slope_bound z_down z_bound g_bound",
           merges=True)  # fmt: skip
def rprelu_param_grad(t: Any, a: Any, run: Run) -> None:
    g, e, z = wide(t.g), wide(t.e), position(t.x, t.s, a)
    t.pe[...] = NO_GRADIENT
    below = round_shift(g * np.minimum(z, 0), a.z_down).sum(axis=(1, 2))
    t.pb[...], t.pe[1] = merge_samples(below, e, a.z_bound)
    if t.ps is not None:
        moved = round_shift(-g * np.where(z > 0, a.one, wide(t.b)), a.slope_down).sum(axis=(1, 2))
        t.ps[...], t.pe[0] = merge_samples(moved, e, a.slope_bound)
    if t.po is not None:
        t.po[...], t.pe[2] = merge_samples(g.sum(axis=(1, 2)), e, a.g_bound)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    return per_channel(inputs[0], "shift", "slope", "offset"), inputs[0]


def expected_slope(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    return per_channel(inputs[0], "slope"), inputs[0]


class RPReLU(Layer):
    """Reads and yields activations; needs a range. Arrays, Fixed, one per channel: shift, slope, offset; all learn."""

    kind = Kind(expected)

    learned: tuple[str, ...] = ("shift", "slope", "offset")

    def trains(self, c: Builder) -> bool:
        return c.train_tail

    def _numbers(self, name: str) -> Fixed:
        if name in self.learned:
            return self.fixed(name)
        return Fixed(np.zeros_like(self.fixed("slope").values), 28)

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        name = self.node.name
        y = c.activation_value(name, x.shape)
        assert x.activation is not None and y.activation is not None
        self._point = min(POINT, 28 - x.bound.bit_length())
        self._z_bits = x.bound.bit_length() + self._point + SHIFT_ROOM + 1
        ratio = x.activation.scale / y.activation.scale / Fraction(2) ** self._point
        slope_bits = min(31, 60 - self._z_bits)
        largest = max(Fraction(1), self._numbers("slope").largest())
        self._shift = binary_point(ratio * largest, slope_bits - SLOPE_ROOM)
        self._one = round_fraction(ratio * Fraction(2) ** self._shift)
        s_limit, b_limit = (1 << (self._z_bits - 1)) - 1, (1 << slope_bits) - 1
        self._units = {
            "shift": Fraction(2) ** self._point / x.activation.scale,
            "slope": ratio * Fraction(2) ** self._shift,
            "offset": Fraction(2) ** self._shift / y.activation.scale,
        }
        rows = (("shift", s_limit, np.int32), ("slope", b_limit, np.int32), ("offset", OFFSET_LIMIT, np.int64))
        self._parts = {
            part: LearnedNumbers(c, f"{name}.{part}", self._numbers(part), self._units[part], limit, dtype,
                          trains=self.trains(c) and part in self.learned)
            for part, limit, dtype in rows
        }  # fmt: skip
        self._read = {"x": x.tensor, "s": self._parts["shift"].operand, "b": self._parts["slope"].operand}
        self._attributes = {"x_zero": x.activation.zero, "point": self._point, "one": self._one}
        saturated = c.hold(c.buffer(f"{name}.saturated", np.int64, (1,), per_sample=False))
        c.emit("forward", "rprelu",
               self._read | {"o": self._parts["offset"].operand, "y": y.tensor, "saturated": saturated},
               shift=self._shift, y_zero=y.activation.zero, low=y.activation.low, high=y.activation.high,
               **self._attributes)  # fmt: skip
        return y

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        (x,), (source,) = inputs, self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None:
            return
        need(gradient.bound + 31 <= 62, f"{self.node.name}: products must fit 62 bits")
        stored = {"g": gradient.tensor, "e": gradient.exponents}
        self._param_grad(c, x, gradient)
        if source in c.needs_gradient:
            result = c.gradient_buffers(source, x.shape)
            c.emit("backward", "rprelu_input_grad",
                   stored | self._read | {"gx": result.tensor, "ex": result.exponents}, shift=self._shift,
                   bits=c.bits.backward_other, **self._attributes)  # fmt: skip
            c.contribute(source, result)

    def _param_grad(self, c: Builder, x: Value, gradient: Gradient) -> None:
        name, (height, width, channels) = self.node.name, x.shape
        letters = {"shift": "ps", "slope": "pb", "offset": "po"}
        sums = {letters[part]: c.buffer(f"{name}.{letters[part]}", np.int64, (channels,), False)
                for part in self.learned}  # fmt: skip
        pe = c.buffer(f"{name}.pe", np.int32, (3,), False)
        g_bound = gradient.bound + (height * width).bit_length()
        slope_down, z_down = max(g_bound + 31 - 62, 0), max(g_bound + self._z_bits - 62, 0)
        c.emit("backward", "rprelu_param_grad",
               {"g": gradient.tensor, "e": gradient.exponents, "pe": pe} | self._read | sums,
               slope_down=slope_down, slope_bound=g_bound + 31 - slope_down, z_down=z_down,
               z_bound=g_bound + self._z_bits - z_down, g_bound=g_bound, **self._attributes)  # fmt: skip
        unit = Fraction(2) ** -self._shift
        # The derivative of the stored y by each real number; a sum was rounded down by its `down` bits.
        factors = {
            "shift": self._units["shift"] * unit * 2**slope_down,
            "slope": self._units["slope"] * unit * 2**z_down,
            "offset": self._units["offset"] * unit,
        }
        for at, part in enumerate(letters):
            if part in self.learned:
                self._parts[part].emit_update(c, sums[letters[part]], pe, factors[part], at)


class PReLU(RPReLU):
    """Reads and yields activations; needs a range. Arrays: slope, Fixed, one per channel; it learns in a tail."""

    kind = Kind(expected_slope)

    learned = ("slope",)
