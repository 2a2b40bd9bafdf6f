"""Softmax of logits, in integers: what the loss and every answer are made of.

    p_c = e^(l_c - max l) / sum e^(l - max l)

Logits have 16 bits behind the point, the lowest int32 where a class takes no part; probabilities have 30.
e^-t = 2^-(t log2 e): the integer part of the exponent is a shift, 2^-f for 0 <= f < 1 a polynomial of degree 7 in
Horner form (EXP2, 30 bits behind the point; error below 2^-28).
"""

from __future__ import annotations

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Int64, round_shift

LOGIT_POINT = 16
LOWEST_LOGIT = -(1 << 31)
HIGHEST_LOGIT = (1 << 31) - 1
POINT = 30
LOG2_E = 1549082005
LARGEST = 40 << LOGIT_POINT
# 2^-f = sum EXP2[i] f^i: the Chebyshev fit of degree 7 on [0, 1], rounded to 30 bits.
EXP2 = (1073741824, -744261114, 257941163, -59596395, 10324651, -1425731, 158139, -11624)


def exp_minus(t: Int64) -> Int64:
    """e^-t with 30 bits behind the point, for t >= 0 with 16 bits behind the point; 0 beyond t = 40."""
    power = round_shift(np.minimum(t, LARGEST) * LOG2_E, LOGIT_POINT)
    whole, part = power >> POINT, power & ((1 << POINT) - 1)
    value = np.full_like(part, EXP2[-1])
    for coefficient in EXP2[-2::-1]:
        value = round_shift(value * part, POINT) + coefficient
    return np.where(t > LARGEST, 0, round_shift(value, whole))


def softmax(logits: Int64) -> Int64:
    """Probabilities over the last axis, 30 bits behind the point; 0 for classes that take no part."""
    weight = np.where(logits > LOWEST_LOGIT, exp_minus(logits.max(axis=-1, keepdims=True) - logits), 0)
    total = weight.sum(axis=-1, keepdims=True)
    return ((weight << POINT) + (total >> 1)) // total
