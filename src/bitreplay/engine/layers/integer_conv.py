"""Convolution with integer weights, frozen: stem and 1x1 shortcut. Activations -> exact sums.

    sums[p, o] = round( sum over taps inside and channels of (x - x_zero) w / 2^down )

Weights are rounded to q_f bits, one scale per output channel; `down` is 0 unless a sum could leave 32 bits.
Taps outside the map are skipped: they read the real number 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.compiler import Compiler, Value
from bitreplay.engine.fixedpoint import divide_round, round_shift, wide
from bitreplay.engine.layers.binary_conv import out_size, taps
from bitreplay.engine.layers.layer import Layer
from bitreplay.engine.operations import Run, operation
from bitreplay.engine.quant import SIGNIFICANT, STORAGE


@operation("integer_conv", code=50, reads="x w", writes="sums", attributes="x_zero stride pad down")
def integer_conv(t: Any, a: Any, run: Run) -> None:
    n, height, width, _ = t.x.shape
    outputs, kernel, _, _ = t.w.shape
    _, out_h, out_w, _ = t.sums.shape
    x, w = wide(t.x) - a.x_zero, wide(t.w)
    total = np.zeros((n, out_h, out_w, outputs), np.int64)
    for row, out_rows, in_rows in taps(kernel, a.stride, a.pad, height, out_h):
        for column, out_columns, in_columns in taps(kernel, a.stride, a.pad, width, out_w):
            total[:, out_rows, out_columns] += x[:, in_rows, in_columns] @ w[:, row, column].T
    t.sums[...] = round_shift(total, a.down)


class IntegerConv(Layer):
    """Arrays: weights, Fixed (outputs, kernel, kernel, channels)."""

    def forward(self, c: Compiler, inputs: list[Value]) -> Value:
        (x,) = inputs
        assert x.activation is not None
        weights, scales = quantise_weights(self.fixed("weights").values, self.fixed("weights").shift, c.bits.forward)
        outputs, kernel, _, channels = weights.shape
        stride, pad = self.number("stride", 1), self.number("pad", 0)
        shape = (*out_size(x.shape[:2], kernel, stride, pad), outputs)
        bound = x.bound * int(np.abs(wide(weights)).reshape(outputs, -1).sum(axis=1).max())
        down = max(bound.bit_length() - 31, 0)
        sums = c.buffer(self.node.name, np.int32, shape)
        w = c.constant(f"{self.node.name}.w", weights)
        c.emit("forward", "integer_conv", {"x": x.tensor, "w": w, "sums": sums}, x_zero=x.activation.zero,
               stride=stride, pad=pad, down=down)  # fmt: skip
        unit = x.activation.scale * 2**down
        return Value(sums, shape, min((bound >> down) + 1, (1 << 31) - 1), scales=tuple(unit * s for s in scales))


def quantise_weights(values: NDArray, shift: int, bits: int) -> tuple[NDArray, list[Fraction]]:
    """Weights at `bits` bits, symmetric, one scale per output (first axis): real = stored * scale."""
    limit = (1 << (SIGNIFICANT[bits] - 1)) - 1
    stored = np.zeros(values.shape, STORAGE[bits])
    scales = []
    for output, row in enumerate(values):
        largest = max(int(np.abs(row.astype(np.int64)).max()), 1)
        flat = [divide_round(int(v) * limit, largest) for v in row.reshape(-1)]
        stored[output] = np.array(flat, np.int64).reshape(row.shape)
        scales.append(Fraction(largest, limit) / Fraction(2) ** shift)
    return stored, scales
