"""The sum of two contributions to one tensor's gradient, or one contribution with its factor applied.

g_x = round( g factor 2^-shift [+ other other_factor 2^-other_shift] )    to q_b bits per sample
"""

from __future__ import annotations

from typing import Any

from bitreplay.engine.arithmetic.fixedpoint import wide
from bitreplay.engine.arithmetic.quant import align, quantise_samples
from bitreplay.engine.arithmetic.second_gradient import second_term
from bitreplay.engine.operations import Run, operation


@operation("gradient_sum", code=40, reads="g e other? other_e?", writes="gx ex",
           attributes="factor shift bound bits other_factor other_shift other_bound")  # fmt: skip
def gradient_sum(t: Any, a: Any, run: Run) -> None:
    aligned, exponents = align([(wide(t.g) * a.factor, wide(t.e) - a.shift, a.bound), *second_term(t, a)])
    t.gx[...], t.ex[...] = quantise_samples(sum(aligned[1:], aligned[0]), exponents, a.bits)
