"""One fixed filter slid over every channel: activations -> activations. Blur-pool, and average pool with overlap.

    forward    stored y = y_zero + round( sum over taps inside of (x - x_zero) k * m / 2^s )
               m / 2^s = x_scale / (divisor y_scale)
    backward   g_x = sum over outputs of g k * m 2^-s

k are small integers; the divisor does not depend on how many taps lie inside. |sums| < 2^31.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Multiplier, round_shift, saturate, wide
from bitreplay.engine.arithmetic.quant import quantise_samples
from bitreplay.engine.arithmetic.sliding_window import out_size, taps
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation


@operation("filter_pool", code=32, reads="x kernel", writes="y",
           attributes="stride pad x_zero mantissa shift y_zero low high")  # fmt: skip
def filter_pool(t: Any, a: Any, run: Run) -> None:
    (_, height, width, _), (_, out_h, out_w, _), size = t.x.shape, t.y.shape, len(t.kernel)
    x, total = wide(t.x) - a.x_zero, np.zeros(t.y.shape, np.int64)
    for row, out_rows, in_rows in taps(size, a.stride, a.pad, height, out_h):
        for column, out_columns, in_columns in taps(size, a.stride, a.pad, width, out_w):
            total[:, out_rows, out_columns] += x[:, in_rows, in_columns] * int(t.kernel[row, column])
    t.y[...] = saturate(round_shift(total * a.mantissa, a.shift) + a.y_zero, a.low, a.high)


@operation("filter_pool_input_grad", code=33, reads="g e kernel", writes="gx ex",
           attributes="stride pad mantissa shift bits")  # fmt: skip
def filter_pool_input_grad(t: Any, a: Any, run: Run) -> None:
    (_, height, width, _), (_, out_h, out_w, _), size = t.gx.shape, t.g.shape, len(t.kernel)
    g, total = wide(t.g), np.zeros(t.gx.shape, np.int64)
    for row, out_rows, in_rows in taps(size, a.stride, a.pad, height, out_h):
        for column, out_columns, in_columns in taps(size, a.stride, a.pad, width, out_w):
            total[:, in_rows, in_columns] += g[:, out_rows, out_columns] * int(t.kernel[row, column])
    t.gx[...], t.ex[...] = quantise_samples(total * a.mantissa, wide(t.e) - a.shift, a.bits)


class FilterPool(Layer):
    """What blur-pool and average pool share; a kind of its own has to give `_filter`."""

    def _filter(self) -> tuple[NDArray[np.int32], int, int, int]:
        """(kernel, divisor, stride, pad)"""
        raise AssertionError(f"{type(self).__name__} lacks its filter")

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        name, (kernel, divisor, stride, pad) = self.node.name, self._filter()
        self._sum = int(np.abs(kernel).sum())
        y = c.activation_value(name, (*out_size(x.shape[:2], len(kernel), stride, pad), x.shape[2]))
        assert x.activation is not None and y.activation is not None, f"{name} reads activations"
        need((x.bound * self._sum).bit_length() <= 31, f"{name}: sums must fit 31 bits")
        scale = Multiplier.of(x.activation.scale / y.activation.scale * Fraction(1, divisor))
        self._attributes = {"stride": stride, "pad": pad, "mantissa": scale.mantissa, "shift": scale.shift}
        self._kernel = c.constant(f"{name}.kernel", kernel)
        c.emit("forward", "filter_pool", {"x": x.tensor, "kernel": self._kernel, "y": y.tensor},
               x_zero=x.activation.zero, y_zero=y.activation.zero, low=y.activation.low, high=y.activation.high,
               **self._attributes)  # fmt: skip
        return y

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        (x,), (source,) = inputs, self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None or source not in c.needs_gradient:
            return
        need(gradient.bound + 31 + self._sum.bit_length() <= 62, f"{self.node.name}: sums must fit 62 bits")
        result = c.gradient_buffers(source, x.shape)
        c.emit("backward", "filter_pool_input_grad",
               {"g": gradient.tensor, "e": gradient.exponents, "kernel": self._kernel, "gx": result.tensor,
                "ex": result.exponents}, bits=c.bits.backward_other, **self._attributes)  # fmt: skip
        c.contribute(source, result)
