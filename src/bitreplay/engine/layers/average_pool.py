"""Average over windows: activations -> activations.

    forward    stored y = y_zero + round( sum over the window of (x - x_zero) * m / 2^s )
               m / 2^s = x_scale / (area y_scale)
    backward   g_x = g m 2^-s, spread over the window

`window` 0 takes the whole map (global average pool). Windows that overlap, leave gaps or reach outside the map go
through `filter_pool.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Multiplier, round_shift, saturate, wide
from bitreplay.engine.arithmetic.quant import quantise_samples
from bitreplay.engine.builder import Builder, Gradient, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import ACTIVATION, SLIDING, Arrays, Kind, Yield, behind_window, number
from bitreplay.engine.layers.filter_pool import FilterPool
from bitreplay.engine.layers.layer import need
from bitreplay.engine.operations import Run, operation


@operation(
    "average_pool", code=30, reads="x", writes="y", attributes="window_h window_w x_zero mantissa shift y_zero low high"
)
def average_pool(t: Any, a: Any, run: Run) -> None:
    n, out_h, out_w, channels = t.y.shape
    x = wide(t.x)[:, : out_h * a.window_h, : out_w * a.window_w] - a.x_zero
    sums = x.reshape(n, out_h, a.window_h, out_w, a.window_w, channels).sum(axis=(2, 4))
    t.y[...] = saturate(round_shift(sums * a.mantissa, a.shift) + a.y_zero, a.low, a.high)


@operation("average_pool_input_grad", code=31, reads="g e", writes="gx ex",
           attributes="window_h window_w mantissa shift bits")  # fmt: skip
def average_pool_input_grad(t: Any, a: Any, run: Run) -> None:
    stored, t.ex[...] = quantise_samples(wide(t.g) * a.mantissa, wide(t.e) - a.shift, a.bits)
    _, out_h, out_w, _ = stored.shape
    t.gx[...] = 0
    t.gx[:, : out_h * a.window_h, : out_w * a.window_w] = stored.repeat(a.window_h, axis=1).repeat(a.window_w, axis=2)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    window = number(node, "window", 0)
    size = behind_window(node, inputs[0].shape, window, window) if window else (1, 1)
    return {}, Yield(ACTIVATION, (*size, inputs[0].channels))


class AveragePool(FilterPool):
    """Reads and yields activations; needs a range.

    Attributes: window (0: the whole map); stride (as the window, unless given); pad (0). Taps outside read 0 and
    count: the divisor is window^2 always.
    """

    kind = Kind(expected, attributes=SLIDING | {"window": range(0, 64)})

    def _filter(self) -> tuple[NDArray[np.int32], int, int, int]:
        window = self.number("window")
        kernel = np.ones((window, window), np.int32)
        return kernel, window * window, self.number("stride", window), self.number("pad", 0)

    def _slides(self) -> bool:
        window = self.number("window", 0)
        return window > 0 and (self.number("stride", window), self.number("pad", 0)) != (window, 0)

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        if self._slides():
            return super().forward(c, inputs)
        (x,) = inputs
        assert x.activation is not None
        height, width, channels = x.shape
        window = self.number("window", 0)
        self._window = {"window_h": window or height, "window_w": window or width}
        y = c.activation_value(
            self.node.name, (height // self._window["window_h"], width // self._window["window_w"], channels)
        )
        assert y.activation is not None
        area = self._window["window_h"] * self._window["window_w"]
        self._multiplier = Multiplier.of(x.activation.scale / (area * y.activation.scale))
        need((x.bound * area).bit_length() <= 31, f"{self.node.name}: sums must fit 31 bits")
        c.emit("forward", "average_pool", {"x": x.tensor, "y": y.tensor}, x_zero=x.activation.zero,
               mantissa=self._multiplier.mantissa, shift=self._multiplier.shift, y_zero=y.activation.zero,
               low=y.activation.low, high=y.activation.high, **self._window)  # fmt: skip
        return y

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        if self._slides():
            return super().backward(c, inputs)
        (x,), (source,) = inputs, self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None or source not in c.needs_gradient:
            return
        result: Gradient = c.gradient_buffers(source, x.shape)
        c.emit("backward", "average_pool_input_grad",
               {"g": gradient.tensor, "e": gradient.exponents, "gx": result.tensor, "ex": result.exponents},
               mantissa=self._multiplier.mantissa, shift=self._multiplier.shift, bits=c.bits.backward_other,
               **self._window)  # fmt: skip
        c.contribute(source, result)
