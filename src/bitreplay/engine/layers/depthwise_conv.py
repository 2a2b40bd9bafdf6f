"""Depthwise convolution with integer weights, one filter per channel: activations -> exact sums.

    sums[p, c] = round( sum over taps inside of (x[p + t, c] - x_zero) w[c, t] / 2^down )
    g_x[p, c]  = sum over taps of g[p - t, c] w[c, t] 2^-down                          rounded to q_b bits per sample

Everything else is as in `integer_conv.py`.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Int64, round_shift, saturate, wide
from bitreplay.engine.arithmetic.sliding_window import taps
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import REAL, SUMS, Arrays, Kind, Yield, behind_window, dimensions
from bitreplay.engine.layers.integer_conv import REAL_CONV, IntegerConv, descend_by_taps, spread_gradient
from bitreplay.engine.layers.layer import need
from bitreplay.engine.operations import Run, operation


def depthwise_sums(x: Int64, w: Int64, stride: int, pad: int, shape: tuple[int, ...]) -> Int64:
    total = np.zeros(shape, np.int64)
    for row, out_rows, in_rows in taps(w.shape[1], stride, pad, x.shape[1], shape[1]):
        for column, out_columns, in_columns in taps(w.shape[1], stride, pad, x.shape[2], shape[2]):
            total[:, out_rows, out_columns] += x[:, in_rows, in_columns] * w[:, row, column]
    return total


@operation("depthwise_conv", code=55, reads="x w", writes="sums", attributes="x_zero stride pad down")
def depthwise_conv(t: Any, a: Any, run: Run) -> None:
    total = depthwise_sums(wide(t.x) - a.x_zero, wide(t.w), a.stride, a.pad, t.sums.shape)
    t.sums[...] = round_shift(total, a.down)


@operation(
    "learned_depthwise", code=56, reads="x w exponents", writes="sums", attributes="x_zero stride pad down limit"
)
def learned_depthwise(t: Any, a: Any, run: Run) -> None:
    total = depthwise_sums(wide(t.x) - a.x_zero, wide(t.w), a.stride, a.pad, t.sums.shape)
    t.sums[...] = saturate(round_shift(total, a.down - wide(t.exponents)), -a.limit, a.limit)


@operation("depthwise_conv_input_grad", code=57, reads="g e w exponents?", writes="gx ex",
           attributes="stride pad room down bits")  # fmt: skip
def depthwise_conv_input_grad(t: Any, a: Any, run: Run) -> None:
    spread_gradient(t, a, operator.mul)


@operation("learned_depthwise_update", code=58, reads="weights g e x", writes="weights",
           attributes="x_zero stride pad bound mantissa shift number")  # fmt: skip
def learned_depthwise_update(t: Any, a: Any, run: Run) -> None:
    descend_by_taps(t, a, run, lambda g, x: (g * x).sum(axis=(0, 1)))


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    _, kernel, _ = dimensions(node, "weights", 3)
    channels = inputs[0].channels
    shape = (*behind_window(node, inputs[0].shape, kernel), channels)
    return {"weights": (REAL, (channels, kernel, kernel))}, Yield(SUMS, shape)


class DepthwiseConv(IntegerConv):
    """Reads activations, yields sums. Arrays: weights, Fixed (channels, kernel, kernel). Attributes as IntegerConv."""

    kind = Kind(expected, attributes=REAL_CONV)

    names = ("depthwise_conv", "learned_depthwise", "depthwise_conv_input_grad", "learned_depthwise_update")

    def _check(self, x: Value, shape: tuple[int, ...]) -> None:
        assert x.activation is not None, f"{self.node.name} reads activations"
        need(shape[1] == shape[2] and shape[0] == x.shape[2], f"{self.node.name}: weights {shape} for {x.shape}")

    def _terms(self, c: Builder) -> int:
        return c.tensors[self._weights].shape[1] ** 2
