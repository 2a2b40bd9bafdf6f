"""The optional second term of an input gradient: what reaches the same tensor by another way, such as a shortcut.

    g_x = round( first 2^e [+ other other_factor 2^(other_e - other_shift)] )      one rounding, to q_b bits per sample

An operation that takes it reads `other? other_e?` and has the attributes `bound bits other_factor other_shift
other_bound`; |first| < 2^bound, |other other_factor| < 2^other_bound.
The native twin is core/src/kernels/loops/second_gradient.h.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Int64, wide
from bitreplay.engine.arithmetic.quant import align, quantise_samples

Term = tuple[Int64, Int64, int]


def second_term(t: Any, a: Any) -> list[Term]:
    """The term for `quant.align`: values, exponents, bound; none where the tensor is absent."""
    if t.other is None:
        return []
    return [(wide(t.other) * a.other_factor, wide(t.other_e) - a.other_shift, a.other_bound)]


def quantise_with_second(t: Any, a: Any, first: Int64, exponents: Int64) -> tuple[NDArray, Int64]:
    """The rounded gradient and its exponents; a first term that is alone keeps its exponent before it is rounded."""
    second = second_term(t, a)
    if not second:
        return quantise_samples(first, exponents, a.bits)
    (left, right), common = align([(first, exponents, a.bound), *second])
    return quantise_samples(left + right, common, a.bits)
