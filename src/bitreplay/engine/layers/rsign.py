"""Sign about a learned threshold per channel (RSign of ReActNet): activations -> packed signs.

    forward    bit = 1 where x >= t
    backward   g_x = g d,   d = 2 - 2|x - t| on |x - t| <= 1, else 0         dt = -sum g d

The threshold is kept in units of 2^-point of a stored unit: z = (stored - zero) 2^point - T,  T = t 2^point / scale.
    bit = z >= 0,     d = max(0, peak - |z| slope),  peak = 2 scale 2^peak_shift,  slope = scale peak / 2^point
`peak_shift` makes peak a number of 26 bits. The sums of dt are int64 and are never rounded to q_b bits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Int64, Multiplier, binary_point, round_fraction, round_shift, wide
from bitreplay.engine.arithmetic.packing import pack, words_for
from bitreplay.engine.arithmetic.quant import merge_samples
from bitreplay.engine.arithmetic.second_gradient import quantise_with_second
from bitreplay.engine.builder import Builder, Gradient, Value, other_attributes, other_tensors
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import SIGNS, Arrays, Kind, Yield, per_channel
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.layers.learned import LearnedNumbers
from bitreplay.engine.layers.sign import PEAK_BITS
from bitreplay.engine.operations import Run, operation

POINT = 12
LIMIT = (1 << 30) - 1


@operation("pack_signs_above", code=110, reads="x threshold", writes="bits", attributes="zero point")
def pack_signs_above(t: Any, a: Any, run: Run) -> None:
    t.bits[...] = pack(((wide(t.x) - a.zero) << a.point) >= t.threshold)


def derivative(x: np.ndarray, threshold: np.ndarray, a: Any) -> Int64:
    distance = np.abs(((wide(x) - a.zero) << a.point) - wide(threshold))
    return np.maximum(0, a.peak - Multiplier(a.slope_mantissa, a.slope_shift).times(distance))


@operation(
    "rsign_input_grad",
    code=111,
    reads="g e x threshold other? other_e?",
    writes="gx ex",
    attributes="zero point peak peak_shift slope_mantissa slope_shift bound bits other_factor other_shift other_bound",
)
def rsign_input_grad(t: Any, a: Any, run: Run) -> None:
    slope = derivative(t.x, t.threshold, a)
    t.gx[...], t.ex[...] = quantise_with_second(t, a, wide(t.g) * slope, wide(t.e) - a.peak_shift)


@operation("rsign_param_grad", code=112, reads="g e x threshold", writes="p pe",
           attributes="zero point peak slope_mantissa slope_shift down bound", merges=True)  # fmt: skip
def rsign_param_grad(t: Any, a: Any, run: Run) -> None:
    products = round_shift(-wide(t.g) * derivative(t.x, t.threshold, a), a.down)
    t.p[...], t.pe[...] = merge_samples(products.sum(axis=(1, 2)), wide(t.e), a.bound)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    return per_channel(inputs[0], "threshold"), Yield(SIGNS, inputs[0].shape)


class RSign(Layer):
    """Reads activations, yields signs. Arrays: threshold, Fixed, one per channel; it learns in a tail."""

    kind = Kind(expected)

    def trains(self, c: Builder) -> bool:
        return c.train_tail

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        assert x.activation is not None
        height, width, channels = x.shape
        self._point = min(POINT, 29 - x.bound.bit_length())
        unit = Fraction(2) ** self._point / x.activation.scale
        self._threshold = LearnedNumbers(
            c, f"{self.node.name}.threshold", self.fixed("threshold"), unit, LIMIT, np.int32, trains=self.trains(c)
        )
        bits = c.buffer(self.node.name, np.uint64, (height, width, words_for(channels)))
        c.emit("forward", "pack_signs_above", {"x": x.tensor, "threshold": self._threshold.operand, "bits": bits},
               zero=x.activation.zero, point=self._point)  # fmt: skip
        return Value(bits, x.shape)

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        (x,), (source,) = inputs, self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None:
            return
        assert x.activation is not None
        scale = x.activation.scale
        self._peak_shift = binary_point(2 * scale, PEAK_BITS)
        peak = 2 * scale * Fraction(2) ** self._peak_shift
        slope = Multiplier.of(scale * peak / Fraction(2) ** self._point)
        shape = {"zero": x.activation.zero, "point": self._point, "peak": round_fraction(peak),
                 "slope_mantissa": slope.mantissa, "slope_shift": slope.shift}  # fmt: skip
        need(gradient.bound + PEAK_BITS <= 62, "rsign_input_grad: products must fit 62 bits")
        tensors = {"g": gradient.tensor, "e": gradient.exponents, "x": x.tensor, "threshold": self._threshold.operand}
        self._param_grad(c, x, gradient, tensors, shape)
        if source not in c.needs_gradient:
            return
        other = c.pending(source)
        result = c.gradient_buffers(source, x.shape)
        c.emit("backward", "rsign_input_grad",
               tensors | {"gx": result.tensor, "ex": result.exponents} | other_tensors(other),
               peak_shift=self._peak_shift, bound=gradient.bound + PEAK_BITS, bits=c.bits.backward_other,
               **shape, **other_attributes(other))  # fmt: skip
        c.contribute(source, result)

    def _param_grad(
        self, c: Builder, x: Value, gradient: Gradient, tensors: dict[str, int], shape: dict[str, int]
    ) -> None:
        name, (height, width, channels) = self.node.name, x.shape
        p = c.buffer(f"{name}.p", np.int64, (channels,), per_sample=False)
        pe = c.buffer(f"{name}.pe", np.int32, (1,), per_sample=False)
        bound = gradient.bound + PEAK_BITS + (height * width).bit_length()
        down = max(bound - 62, 0)
        c.emit("backward", "rsign_param_grad", tensors | {"p": p, "pe": pe}, down=down, bound=bound - down, **shape)
        assert x.activation is not None
        factor = Fraction(2) ** (down - self._peak_shift) / x.activation.scale
        self._threshold.emit_update(c, p, pe, factor)
