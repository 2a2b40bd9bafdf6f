"""Sign: activations -> packed signs.

    forward    bit = 1 where x >= 0, that is where stored >= zero
    backward   g_x = g d(x),  d(x) = 2 - 2|x| on |x| <= 1, else 0     (Bi-Real; the derivative of a triangle)
                       or     d(x) = 1 on |x| <= clip, else 0         (`clipped_sign.py`)

In stored units the first d becomes an integer with the binary point `peak_shift`:
    d = max(0, peak - |stored - zero| * slope),  peak = 2 scale 2^peak_shift,  slope = scale * peak
One rounding, to q_b bits per sample, after the gradient that reaches x by another way (a shortcut) is added.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Multiplier, binary_point, round_fraction, wide
from bitreplay.engine.arithmetic.packing import pack, words_for
from bitreplay.engine.arithmetic.second_gradient import quantise_with_second
from bitreplay.engine.builder import Builder, Value, other_attributes, other_tensors
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import DECIMAL, SIGNS, Arrays, Kind, Yield
from bitreplay.engine.layers.clipped_sign import emit_clipped, emit_clipped_grad
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation

PEAK_BITS = 26


@operation("pack_signs", code=10, reads="x", writes="bits", attributes="zero")
def pack_signs(t: Any, a: Any, run: Run) -> None:
    t.bits[...] = pack(t.x >= a.zero)


@operation(
    "sign_input_grad",
    code=11,
    reads="g e x other? other_e?",
    writes="gx ex",
    attributes="zero peak peak_shift slope_mantissa slope_shift bound bits other_factor other_shift other_bound",
)
def sign_input_grad(t: Any, a: Any, run: Run) -> None:
    distance = np.abs(wide(t.x) - a.zero)
    derivative = np.maximum(0, a.peak - Multiplier(a.slope_mantissa, a.slope_shift).times(distance))
    t.gx[...], t.ex[...] = quantise_with_second(t, a, wide(t.g) * derivative, wide(t.e) - a.peak_shift)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    return {}, Yield(SIGNS, inputs[0].shape)


class Sign(Layer):
    """Reads activations, yields signs.

    Attributes: derivative, "polynomial" (2 - 2|x|, the default) or "clipped"; clip, a decimal number as text ("1").
    """

    kind = Kind(expected, attributes={"derivative": ("polynomial", "clipped"), "clip": DECIMAL})

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        derivative = node.attributes.get("derivative", "polynomial")
        need(derivative in ("polynomial", "clipped"), f"{node.name}: unknown derivative {derivative}")
        self._clip = Fraction(str(node.attributes.get("clip", 1))) if derivative == "clipped" else None

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        assert x.activation is not None
        height, width, channels = x.shape
        bits = c.buffer(self.node.name, np.uint64, (height, width, words_for(channels)))
        if self._clip is not None and self.node.inputs[0] in c.needs_gradient:
            self._mask = emit_clipped(c, x, bits, self.node.name, self._clip)
        else:
            c.emit("forward", "pack_signs", {"x": x.tensor, "bits": bits}, zero=x.activation.zero)
        return Value(bits, x.shape)

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        (x,), (source,) = inputs, self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None or source not in c.needs_gradient:
            return
        if self._clip is not None:
            return emit_clipped_grad(c, x, self._mask, source, gradient)
        assert x.activation is not None
        scale = x.activation.scale
        peak_shift = binary_point(2 * scale, PEAK_BITS)
        slope = Multiplier.of(scale * 2 * scale * Fraction(2) ** peak_shift)
        need(gradient.bound + PEAK_BITS <= 62, "sign_input_grad: products must fit 62 bits")
        other = c.pending(source)
        result = c.gradient_buffers(source, x.shape)
        tensors = {"g": gradient.tensor, "e": gradient.exponents, "x": x.tensor}
        tensors |= {"gx": result.tensor, "ex": result.exponents} | other_tensors(other)
        c.emit("backward", "sign_input_grad", tensors, zero=x.activation.zero,
               peak=round_fraction(2 * scale * Fraction(2) ** peak_shift), peak_shift=peak_shift,
               slope_mantissa=slope.mantissa, slope_shift=slope.shift, bound=gradient.bound + PEAK_BITS,
               bits=c.bits.backward_other, **other_attributes(other))  # fmt: skip
        c.contribute(source, result)
