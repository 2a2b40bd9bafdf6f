"""Convolution with integer weights: stem, 1x1 shortcut and transition. Activations -> exact sums.

    sums[p, o] = round( sum over taps inside and channels of (x - x_zero) w / 2^down )
    g_x[p, i]  = sum over taps and outputs of g[p - t, o] w[o, t, i] 2^-down            rounded to q_b bits per sample

Weights that stay are rounded to q_f bits, one scale per output channel; `down` is 0 unless a sum could leave 32 bits.
Weights that learn: `learned_conv.py`. Taps outside the map are skipped: they read the real number 0.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Int64, divide_each, divide_round, round_shift, saturate, wide
from bitreplay.engine.arithmetic.quant import SIGNIFICANT, STORAGE, Scales, merged_exponent, quantise_samples
from bitreplay.engine.arithmetic.sgd import descend
from bitreplay.engine.arithmetic.sliding_window import out_size, taps
from bitreplay.engine.builder import Builder, Gradient, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import REAL, SLIDING, SUMS, Allowed, Arrays, Kind, Yield, behind_window, dimensions
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.layers.learned_conv import LearnedWeights, aligned_outputs, input_grad_room
from bitreplay.engine.operations import Run, operation


def conv_sums(x: Int64, w: Int64, stride: int, pad: int, shape: tuple[int, ...]) -> Int64:
    outputs, kernel, _, _ = w.shape
    total = np.zeros(shape, np.int64)
    for row, out_rows, in_rows in taps(kernel, stride, pad, x.shape[1], shape[1]):
        for column, out_columns, in_columns in taps(kernel, stride, pad, x.shape[2], shape[2]):
            total[:, out_rows, out_columns] += x[:, in_rows, in_columns] @ w[:, row, column].T
    return total


@operation("integer_conv", code=50, reads="x w", writes="sums", attributes="x_zero stride pad down")
def integer_conv(t: Any, a: Any, run: Run) -> None:
    total = conv_sums(wide(t.x) - a.x_zero, wide(t.w), a.stride, a.pad, t.sums.shape)
    t.sums[...] = round_shift(total, a.down)


@operation("learned_conv", code=52, reads="x w exponents", writes="sums", attributes="x_zero stride pad down limit")
def learned_conv(t: Any, a: Any, run: Run) -> None:
    total = conv_sums(wide(t.x) - a.x_zero, wide(t.w), a.stride, a.pad, t.sums.shape)
    t.sums[...] = saturate(round_shift(total, a.down - wide(t.exponents)), -a.limit, a.limit)


def spread_gradient(t: Any, a: Any, product: Callable[[Int64, Int64], Int64]) -> None:
    """`gx` and its exponents: the gradient of each output goes back to the inputs that its taps read."""
    kernel = t.w.shape[1]
    _, height, width, _ = t.gx.shape
    _, out_h, out_w, _ = t.g.shape
    w, (g, common) = wide(t.w), aligned_outputs(wide(t.g), t.exponents, a.room)
    total = np.zeros(t.gx.shape, np.int64)
    for row, out_rows, in_rows in taps(kernel, a.stride, a.pad, height, out_h):
        for column, out_columns, in_columns in taps(kernel, a.stride, a.pad, width, out_w):
            total[:, in_rows, in_columns] += product(g[:, out_rows, out_columns], w[:, row, column])
    t.gx[...], t.ex[...] = quantise_samples(total, wide(t.e) + (common - a.down), a.bits)


@operation("integer_conv_input_grad", code=53, reads="g e w exponents?", writes="gx ex",
           attributes="stride pad room down bits")  # fmt: skip
def integer_conv_input_grad(t: Any, a: Any, run: Run) -> None:
    spread_gradient(t, a, operator.matmul)


def descend_by_taps(t: Any, a: Any, run: Run, product: Callable[[Int64, Int64], Int64]) -> None:
    """One step of the weights: at each tap the products of gradients and of the inputs that it read, summed."""
    kernel = t.weights.shape[1]
    _, height, width, _ = t.x.shape
    _, out_h, out_w, _ = t.g.shape
    common, live = merged_exponent(wide(t.e), a.bound)
    total = np.zeros(t.weights.shape, np.int64)
    for n in live:
        g, x = wide(t.g[n]), wide(t.x[n]) - a.x_zero
        for row, out_rows, in_rows in taps(kernel, a.stride, a.pad, height, out_h):
            for column, out_columns, in_columns in taps(kernel, a.stride, a.pad, width, out_w):
                sums = product(g[out_rows, out_columns], x[in_rows, in_columns])
                total[:, row, column] += round_shift(sums, common - int(t.e[n]))
    t.weights[...] = descend(t.weights, total, common, a.mantissa, a.shift, run, a.number)


@operation("learned_conv_update", code=54, reads="weights g e x", writes="weights",
           attributes="x_zero stride pad bound mantissa shift number")  # fmt: skip
def learned_conv_update(t: Any, a: Any, run: Run) -> None:
    descend_by_taps(t, a, run, lambda g, x: g.reshape(-1, g.shape[-1]).T @ x.reshape(-1, x.shape[-1]))


REAL_CONV: dict[str, Allowed] = SLIDING | {
    "pad_after": range(0, 16),
    "learns": range(0, 2),
    "weight_bits": range(8, 17, 8),
}


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    outputs, kernel, _, _ = dimensions(node, "weights", 4)
    shape = (*behind_window(node, inputs[0].shape, kernel), outputs)
    return {"weights": (REAL, (outputs, kernel, kernel, inputs[0].channels))}, Yield(SUMS, shape)


class IntegerConv(Layer):
    """Reads activations, yields sums. Arrays: weights, Fixed (outputs, kernel, kernel, channels).

    Attributes: stride (1); pad (0), taps outside above and to the left; pad_after (as pad), below and to the right;
    learns (0): with 1 the weights train in a tail; weight_bits (16): with 8 the file stores weights in bytes.
    """

    kind = Kind(expected, attributes=REAL_CONV)

    names = ("integer_conv", "learned_conv", "integer_conv_input_grad", "learned_conv_update")

    def trains(self, c: Builder) -> bool:
        return c.train_tail and self.number("learns", 0) == 1

    def _geometry(self) -> dict[str, int]:
        return {"stride": self.number("stride", 1), "pad": self.number("pad", 0)}

    def _shape(self, x: Value, outputs: int, kernel: int) -> tuple[int, int, int]:
        stride, pad = self._geometry().values()
        return *out_size(x.shape[:2], kernel, stride, pad, self.number("pad_after", pad)), outputs

    def _check(self, x: Value, shape: tuple[int, ...]) -> None:
        assert x.activation is not None, f"{self.node.name} reads activations"
        need(shape[1] == shape[2] and shape[3] == x.shape[2], f"{self.node.name}: weights {shape} for {x.shape}")

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        fixed, name = self.fixed("weights"), f"{self.node.name}.w"
        self._check(x, fixed.values.shape)
        assert x.activation is not None
        outputs, kernel = fixed.values.shape[:2]
        shape = self._shape(x, outputs, kernel)
        sums = c.buffer(self.node.name, np.int32, shape)
        self._learned = None
        if self.trains(c):
            self._learned = learned = LearnedWeights.place(c, name, fixed, x.bound)
            self._weights, self._down = learned.operand, learned.down
            tensors = {"x": x.tensor, "w": learned.operand, "exponents": learned.exponents, "sums": sums}
            c.emit("forward", self.names[1], tensors, x_zero=x.activation.zero, down=learned.down,
                   limit=learned.bound, **self._geometry())  # fmt: skip
            return Value(sums, shape, learned.bound, scales=Scales(learned.unit(x.activation.scale), (1,) * outputs))
        weights, scales = quantise_weights(fixed.values, fixed.shift, c.bits.forward)
        bound = x.bound * int(np.abs(weights).reshape(outputs, -1).sum(axis=1, dtype=np.int64).max())
        need(bound.bit_length() <= 62, f"{self.node.name}: sums must fit 62 bits")
        self._down = max(bound.bit_length() - 31, 0)
        self._down += divide_round(bound, 1 << self._down) >= 1 << 31
        self._weights = c.constant(name, weights)
        c.emit("forward", self.names[0], {"x": x.tensor, "w": self._weights, "sums": sums},
               x_zero=x.activation.zero, down=self._down, **self._geometry())  # fmt: skip
        scales = replace(scales, unit=scales.unit * x.activation.scale * 2**self._down)
        bound = min((bound >> self._down) + 1, (1 << 31) - 1)
        return Value(sums, shape, bound, scales=scales)

    def _terms(self, c: Builder) -> int:
        """Products in one sum of the input gradient."""
        outputs, kernel = c.tensors[self._weights].shape[:2]
        return outputs * kernel * kernel

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        (x,), (source,) = inputs, self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None:
            return
        if source in c.needs_gradient:
            self._input_grad(c, x, source, gradient)
        if self._learned is not None:
            height, width, _ = c.values[self.node.name].shape
            self._learned.emit_update(c, self.names[3], x, gradient, height * width, self._geometry())

    def _input_grad(self, c: Builder, x: Value, source: str, gradient: Gradient) -> None:
        result = c.gradient_buffers(source, x.shape)
        tensors = {"g": gradient.tensor, "e": gradient.exponents, "w": self._weights}
        if self._learned is not None:
            tensors["exponents"] = self._learned.exponents
        c.emit("backward", self.names[2], tensors | {"gx": result.tensor, "ex": result.exponents}, down=self._down,
               room=input_grad_room(gradient, c.bits.forward, self._terms(c)), bits=c.bits.backward_other,
               **self._geometry())  # fmt: skip
        c.contribute(source, result)


def quantise_weights(values: NDArray, shift: int, bits: int) -> tuple[NDArray, Scales]:
    """Weights at `bits` bits, symmetric, one scale per output (first axis): real = stored * scale."""
    limit = (1 << (SIGNIFICANT[bits] - 1)) - 1
    rows = values.reshape(len(values), -1)
    largest = np.maximum(np.maximum(wide(rows.max(axis=1)), -wide(rows.min(axis=1))), 1)
    stored = rows.astype(STORAGE[bits])
    other = largest != limit  # whose largest weight is not stored as it is
    stored[other] = divide_each(wide(rows[other]) * limit, largest[other, None])
    return stored.reshape(values.shape), Scales(1 / (limit * Fraction(2) ** shift), tuple(largest.tolist()))
