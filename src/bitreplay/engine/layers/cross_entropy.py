"""Softmax and cross entropy over the active classes.

    p_c = e^(l_c) / sum e^l,   g_c = p_c for c other than the label,   g_label = -(sum of the other p)

so that a row sums to 0 before it is rounded to q_b bits. `softmax.py` makes the probabilities. A sample whose gradient
is 0 is skipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import wide
from bitreplay.engine.arithmetic.quant import quantise_samples
from bitreplay.engine.arithmetic.softmax import LOGIT_POINT, POINT, softmax
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.layers.layer import Layer
from bitreplay.engine.operations import Run, operation


@operation("cross_entropy", code=90, reads="logits labels", writes="g e p_label", attributes="bits")
def cross_entropy(t: Any, a: Any, run: Run) -> None:
    logits = wide(t.logits)
    if t.labels.min() < 0 or t.labels.max() >= logits.shape[1]:
        raise ValueError("the program could not run: a label is not one of the program's classes")
    p = softmax(logits)
    rows = np.arange(run.samples)
    t.p_label[...] = p[rows, t.labels]
    p[rows, t.labels] = 0
    p[rows, t.labels] = -p.sum(axis=1)
    exponents = np.full(run.samples, -POINT - LOGIT_POINT, np.int64)
    t.g[...], t.e[...] = quantise_samples(p, exponents, a.bits)


class CrossEntropy(Layer):
    def forward(self, c: Builder, inputs: list[Value]) -> Value:
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

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        """The gradient was emitted with the loss itself: it is the first record of the backward list."""
