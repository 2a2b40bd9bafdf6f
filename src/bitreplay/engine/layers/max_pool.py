"""Largest value of each window: activations -> activations, or exact sums -> exact sums.

    forward    stored y = y_zero + round((max over the window of x - x_zero) m / 2^s),  m / 2^s = x_scale / y_scale
    backward   g m 2^-s goes to the place of the largest; of equal ones, to the first in reading order

Taps outside the map are skipped. Training keeps the place, one byte per output, instead of x. Sums keep their
integers (m = 1, s = 0), and so do activations where x and y have the same range.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Multiplier, round_shift, saturate, wide
from bitreplay.engine.arithmetic.quant import quantise_samples
from bitreplay.engine.arithmetic.sliding_window import out_size, taps
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import (
    ACTIVATION,
    SLIDING,
    SUMS,
    Arrays,
    InvalidNodeError,
    Kind,
    Yield,
    behind_window,
    number,
)
from bitreplay.engine.layers.clip import UNBOUNDED
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation

LARGEST_WINDOW = 15


@operation("max_pool", code=160, reads="x", writes="y place?",
           attributes="window stride pad x_zero mantissa shift y_zero low high")  # fmt: skip
def max_pool(t: Any, a: Any, run: Run) -> None:
    _, height, width, _ = t.x.shape
    _, out_h, out_w, _ = t.y.shape
    best = np.full(t.y.shape, -UNBOUNDED, np.int64)
    winner = np.zeros(t.y.shape, np.uint8)
    for row, out_rows, in_rows in taps(a.window, a.stride, a.pad, height, out_h):
        for column, out_columns, in_columns in taps(a.window, a.stride, a.pad, width, out_w):
            x, at = wide(t.x[:, in_rows, in_columns]), (slice(None), out_rows, out_columns)
            larger = x > best[at]
            best[at] = np.where(larger, x, best[at])
            winner[at] = np.where(larger, np.uint8(row * a.window + column), winner[at])
    t.y[...] = saturate(round_shift((best - a.x_zero) * a.mantissa, a.shift) + a.y_zero, a.low, a.high)
    if t.place is not None:
        t.place[...] = winner


@operation("max_pool_input_grad", code=161, reads="g e place", writes="gx ex",
           attributes="window stride pad mantissa shift bits")  # fmt: skip
def max_pool_input_grad(t: Any, a: Any, run: Run) -> None:
    _, height, width, _ = t.gx.shape
    _, out_h, out_w, _ = t.g.shape
    g, total = wide(t.g) * a.mantissa, np.zeros(t.gx.shape, np.int64)
    for row, out_rows, in_rows in taps(a.window, a.stride, a.pad, height, out_h):
        for column, out_columns, in_columns in taps(a.window, a.stride, a.pad, width, out_w):
            chosen = t.place[:, out_rows, out_columns] == row * a.window + column
            total[:, in_rows, in_columns] += chosen * g[:, out_rows, out_columns]
    t.gx[...], t.ex[...] = quantise_samples(total, wide(t.e) - a.shift, a.bits)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    window = number(node, "window", 0)
    if window == 0:
        raise InvalidNodeError("lacks its window")
    return {}, Yield(inputs[0].form, (*behind_window(node, inputs[0].shape, window, window), inputs[0].channels))


class MaxPool(Layer):
    """Reads activations and yields activations (needs a range), or reads sums and yields sums.

    Attributes: window; stride (as the window, unless given); pad (0): so many taps outside on each side, never chosen.
    """

    kind = Kind(expected, ((ACTIVATION, SUMS),), attributes=SLIDING | {"window": range(1, 16)})

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        name, window = self.node.name, self.number("window")
        need(1 <= window <= LARGEST_WINDOW and self.number("pad", 0) < window, f"{name}: window out of range")
        self._geometry = {"window": window, "stride": self.number("stride", window), "pad": self.number("pad", 0)}
        size = out_size(x.shape[:2], window, self._geometry["stride"], self._geometry["pad"])
        shape = (*size, x.shape[2])
        y, self._multiplier, others = self._result(c, x, shape)
        tensors = {"x": x.tensor, "y": y.tensor}
        if self.node.inputs[0] in c.needs_gradient:
            tensors["place"] = self._place = c.buffer(f"{name}.place", np.uint8, shape)
        c.emit("forward", "max_pool", tensors, mantissa=self._multiplier.mantissa, shift=self._multiplier.shift,
               **others, **self._geometry)  # fmt: skip
        return y

    def _result(
        self, c: Builder, x: Value, shape: tuple[int, int, int]
    ) -> tuple[Value, Multiplier, dict[str, int]]:  # fmt: skip
        if x.activation is None:
            need(x.scales is not None and x.scales.positive, f"{self.node.name}: sums need a positive scale")
            tensor = c.buffer(self.node.name, c.tensors[x.tensor].dtype, shape)
            limits = {"x_zero": 0, "y_zero": 0, "low": -UNBOUNDED, "high": UNBOUNDED}
            return Value(tensor, shape, x.bound, scales=x.scales), Multiplier(1, 0), limits
        y = c.activation_value(self.node.name, shape)
        spec = y.activation
        assert spec is not None
        limits = {"x_zero": x.activation.zero, "y_zero": spec.zero, "low": spec.low, "high": spec.high}
        return y, Multiplier.of(x.activation.scale / spec.scale), limits

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        (x,), (source,) = inputs, self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None or source not in c.needs_gradient:
            return
        overlapping = (-(-self._geometry["window"] // self._geometry["stride"])) ** 2
        need(gradient.bound + 31 + overlapping.bit_length() <= 62, f"{self.node.name}: sums must fit 62 bits")
        result = c.gradient_buffers(source, x.shape)
        c.emit("backward", "max_pool_input_grad",
               {"g": gradient.tensor, "e": gradient.exponents, "place": self._place, "gx": result.tensor,
                "ex": result.exponents}, mantissa=self._multiplier.mantissa, shift=self._multiplier.shift,
               bits=c.bits.backward_other, **self._geometry)  # fmt: skip
        c.contribute(source, result)
