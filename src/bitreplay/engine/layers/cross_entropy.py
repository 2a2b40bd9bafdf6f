"""Softmax and cross entropy over the active classes.

    p_c = e^(l_c) / sum e^l,   g_c = p_c for c other than the label,   g_label = -(sum of the other p)

so that a row sums to 0 before it is rounded to q_b bits. Probabilities have 30 bits behind the point.
e^-t = 2^-(t log2 e): the integer part of the exponent is a shift, 2^-f for 0 <= f < 1 a polynomial of degree 7 in
Horner form (EXP2, 30 bits behind the point; error below 2^-28). A sample whose gradient is 0 is skipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bitreplay.engine.compiler import Compiler, Value
from bitreplay.engine.fixedpoint import Int64, round_shift, wide
from bitreplay.engine.layers.dense import LOGIT_POINT, LOWEST_LOGIT
from bitreplay.engine.layers.layer import Layer
from bitreplay.engine.operations import Run, operation
from bitreplay.engine.quant import quantise_samples

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


@operation("cross_entropy", code=90, reads="logits labels", writes="g e p_label", attributes="bits")
def cross_entropy(t: Any, a: Any, run: Run) -> None:
    logits = wide(t.logits)
    if t.labels.min() < 0 or t.labels.max() >= logits.shape[1]:
        raise ValueError("the program could not run: a label is not one of the program's classes")
    live = logits > LOWEST_LOGIT
    weight = np.where(live, exp_minus(logits.max(axis=1, keepdims=True) - logits), 0)
    total = weight.sum(axis=1, keepdims=True)
    p = ((weight << POINT) + (total >> 1)) // total
    rows = np.arange(run.samples)
    t.p_label[...] = p[rows, t.labels]
    p[rows, t.labels] = 0
    p[rows, t.labels] = -p.sum(axis=1)
    exponents = np.full(run.samples, -POINT - LOGIT_POINT, np.int64)
    t.g[...], t.e[...] = quantise_samples(p, exponents, a.bits)


class CrossEntropy(Layer):
    def forward(self, c: Compiler, inputs: list[Value]) -> Value:
        (logits,) = inputs
        (source,) = self.node.inputs
        labels = c.hold(c.buffer("labels", np.int32, ()))
        p_label = c.hold(c.buffer("p_label", np.int32, ()))
        gradient = c.gradient_buffers(source, (logits.shape[2],))
        c.emit("backward", "cross_entropy",
               {"logits": logits.tensor, "labels": labels, "g": gradient.tensor, "e": gradient.exponents,
                "p_label": p_label}, bits=c.bits.backward_other)  # fmt: skip
        c.contribute(source, gradient)
        return logits

    def backward(self, c: Compiler, inputs: list[Value]) -> None:
        """The gradient was emitted with the loss itself: it is the first record of the backward list."""
