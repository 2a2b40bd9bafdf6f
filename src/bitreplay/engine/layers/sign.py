"""Sign: activations -> packed signs.

    forward    bit = 1 where x >= 0, that is where stored >= zero
    backward   g_x = g d(x),  d(x) = 2 - 2|x| on |x| <= 1, else 0     (Bi-Real; the derivative of a triangle)

In stored units d becomes an integer with the binary point `peak_shift`:
    d = max(0, peak - |stored - zero| * slope),  peak = 2 scale 2^peak_shift,  slope = scale * peak
One rounding, to q_b bits per sample, after the gradient that reaches x by another way (a shortcut) is added.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.bits import pack, words_for
from bitreplay.engine.compiler import Compiler, Value, other_attributes, other_tensors
from bitreplay.engine.fixedpoint import Multiplier, round_fraction, wide
from bitreplay.engine.layers.layer import Layer
from bitreplay.engine.operations import Run, operation
from bitreplay.engine.quant import align, quantise_samples

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
    terms = [(wide(t.g) * derivative, wide(t.e) - a.peak_shift, a.bound)]
    if t.other is not None:
        terms.append((wide(t.other) * a.other_factor, wide(t.other_e) - a.other_shift, a.other_bound))
        aligned, exponents = align(terms)
        total = aligned[0] + aligned[1]
    else:
        total, exponents, _ = terms[0]
    t.gx[...], t.ex[...] = quantise_samples(total, exponents, a.bits)


class Sign(Layer):
    def forward(self, c: Compiler, inputs: list[Value]) -> Value:
        (x,) = inputs
        assert x.activation is not None
        height, width, channels = x.shape
        bits = c.buffer(self.node.name, np.uint64, (height, width, words_for(channels)))
        c.emit("forward", "pack_signs", {"x": x.tensor, "bits": bits}, zero=x.activation.zero)
        return Value(bits, x.shape)

    def backward(self, c: Compiler, inputs: list[Value]) -> None:
        (x,) = inputs
        (source,) = self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None or source not in c.needs_gradient:
            return
        assert x.activation is not None
        scale = x.activation.scale
        peak_shift = _peak_shift(scale)
        slope = Multiplier.of(scale * 2 * scale * Fraction(2) ** peak_shift)
        assert gradient.bound + PEAK_BITS <= 62, "sign_input_grad: products must fit 62 bits"
        other = c.pending(source)
        result = c.gradient_buffers(source, x.shape)
        tensors = {"g": gradient.tensor, "e": gradient.exponents, "x": x.tensor}
        tensors |= {"gx": result.tensor, "ex": result.exponents} | other_tensors(other)
        c.emit("backward", "sign_input_grad", tensors, zero=x.activation.zero,
               peak=round_fraction(2 * scale * Fraction(2) ** peak_shift), peak_shift=peak_shift,
               slope_mantissa=slope.mantissa, slope_shift=slope.shift, bound=gradient.bound + PEAK_BITS,
               bits=c.bits.backward_other, **other_attributes(other))  # fmt: skip
        c.contribute(source, result)


def _peak_shift(scale: Fraction) -> int:
    """The binary point that makes 2 * scale a number of PEAK_BITS bits."""
    shift = 0
    while 2 * scale * Fraction(2) ** (shift + 1) < 1 << PEAK_BITS:
        shift += 1
    return shift
