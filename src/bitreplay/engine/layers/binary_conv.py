"""Binary convolution: packed signs * packed signs -> exact sums.

    forward     sums[p, o] = sum over taps t inside the map and channels i of x[p + t, i] w[o, t, i]
                           = K - 2 popcount(x xor w), K = channels * taps inside
    backward    g_x[p, i]  = sum over taps t and outputs o of g[p - t, o] w[o, t, i]      exact, not rounded

Signs are +-1; |sums| <= 9 * channels must fit int16. Padding `zero` skips taps outside the map; `one` reads +1 there.
The weights' real scale (one number per output) stays a property of the sums: BatchNorm takes it in.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import wide
from bitreplay.engine.arithmetic.packing import signs, words_for
from bitreplay.engine.arithmetic.quant import Scales
from bitreplay.engine.arithmetic.sliding_window import out_size, taps
from bitreplay.engine.builder import Builder, Gradient, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import (
    REAL,
    SIGNS,
    SLIDING,
    SUMS,
    WORDS,
    Arrays,
    InvalidNodeError,
    Kind,
    Yield,
    behind_window,
    dimensions,
)
from bitreplay.engine.layers.latent_weights import LATENT_GAIN, LatentWeights
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation

PADDING = {"zero": 0, "one": 1}


@operation("binary_conv", code=12, reads="x w", writes="sums", attributes="channels stride pad padding")
def binary_conv(t: Any, a: Any, run: Run) -> None:
    n, height, width, words = t.x.shape
    outputs, kernel, _, _ = t.w.shape
    _, out_h, out_w, _ = t.sums.shape
    # One padding reads the word of +1 for every tap; zero padding starts from nothing.
    ones = np.zeros(words * 64, np.uint8)
    ones[: a.channels] = 1
    ones_word = np.packbits(ones, bitorder="little").view("<u8")
    per_tap = a.channels - 2 * np.bitwise_count(t.w ^ ones_word).astype(np.int64).sum(axis=-1)
    total = np.zeros((n, out_h, out_w, outputs), np.int64)
    if a.padding == PADDING["one"]:
        total += per_tap.sum(axis=(1, 2))
    for row, out_rows, in_rows in taps(kernel, a.stride, a.pad, height, out_h):
        for column, out_columns, in_columns in taps(kernel, a.stride, a.pad, width, out_w):
            x = t.x[:, in_rows, in_columns, None, :]
            different = np.bitwise_count(x ^ t.w[:, row, column]).astype(np.int64).sum(axis=-1)
            total[:, out_rows, out_columns] += a.channels - 2 * different
            if a.padding == PADDING["one"]:
                total[:, out_rows, out_columns] -= per_tap[:, row, column]
    t.sums[...] = total


@operation("binary_conv_input_grad", code=13, reads="g w", writes="gx", attributes="channels stride pad")
def binary_conv_input_grad(t: Any, a: Any, run: Run) -> None:
    outputs, kernel, _, _ = t.w.shape
    _, height, width, _ = t.gx.shape
    _, out_h, out_w, _ = t.g.shape
    g, w = wide(t.g), signs(t.w, a.channels)
    total = np.zeros(t.gx.shape, np.int64)
    for row, out_rows, in_rows in taps(kernel, a.stride, a.pad, height, out_h):
        for column, out_columns, in_columns in taps(kernel, a.stride, a.pad, width, out_w):
            total[:, in_rows, in_columns] += g[:, out_rows, out_columns] @ w[:, row, column]
    t.gx[...] = total


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    outputs, kernel, _, _ = dimensions(node, "weights", 4)
    channels = inputs[0].channels
    if channels * kernel * kernel >= 1 << 15:
        raise InvalidNodeError(f"sums {channels * kernel * kernel} signs; fewer than 32768 are expected")
    shape = (*behind_window(node, inputs[0].shape, kernel, pad=1), outputs)
    words = (outputs, kernel, kernel, words_for(channels))
    weights = node.arrays["weights"]
    if isinstance(weights, np.ndarray) and weights.shape == words and weights.dtype == WORDS and channels % 64:
        if (weights[..., -1] >> np.uint64(channels % 64)).any():
            raise InvalidNodeError("has weights whose padding bits are not 0")
    return {"weights": (WORDS, words), "scale": (REAL, (outputs,))}, Yield(SUMS, shape)


class BinaryConv(Layer):
    """Reads signs, yields sums. Arrays: weights (outputs, kernel, kernel, words) uint64; scale: Fixed, one per output.

    Attributes: stride (1); pad (1); padding, "zero" or "one". With q_b^bin above 1 the weights learn in a tail, from
    latent weights: latent_start (2^(q_b^bin - 2)) and latent_gain (12; 10 for 4 bits) as in `latent_weights.py`.
    """

    kind = Kind(expected, ((SIGNS,),), attributes=SLIDING | {"padding": tuple(PADDING)})

    def trains(self, c: Builder) -> bool:
        return c.train_tail and c.bits.backward_binary > 1

    def _geometry(self) -> dict[str, int]:
        return {"stride": self.number("stride", 1), "pad": self.number("pad", 1)}

    def _padding(self) -> int:
        return PADDING[str(self.node.attributes.get("padding", "zero"))]

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        name, weights = self.node.name, self.node.arrays["weights"]
        assert isinstance(weights, np.ndarray)
        outputs, kernel, _, words = weights.shape
        height, width, channels = x.shape
        need(words == words_for(channels), f"{name}: weights of {words} words for {channels} channels")
        shape = (*out_size((height, width), kernel, **self._geometry()), outputs)
        bound = channels * kernel * kernel
        need(bound < 1 << 15, f"{name}: sums up to {bound} do not fit int16")
        sums = c.buffer(name, np.int16, shape)
        self._latent = None
        if self.trains(c):
            start = self.number("latent_start", 1 << (c.bits.backward_binary - 2))
            gain = self.number("latent_gain", LATENT_GAIN[c.bits.backward_binary])
            self._latent = LatentWeights(c, name, weights, self.fixed("scale").values, channels, start, gain)
        self._weights = self._latent.words if self._latent else c.constant(f"{name}.w", weights)
        c.emit("forward", "binary_conv", {"x": x.tensor, "w": self._weights, "sums": sums},
               channels=channels, padding=self._padding(), **self._geometry())  # fmt: skip
        scale = self.fixed("scale")
        scales = Scales(Fraction(2) ** -scale.shift, tuple(scale.values.tolist()))
        return Value(sums, shape, bound, scales=scales)

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        (x,), (source,) = inputs, self.node.inputs
        gradient = c.stored_gradient(self.node.name)
        if gradient is None:
            return
        output = c.values[self.node.name]
        if source in c.needs_gradient:
            terms = c.tensors[self._weights].shape[1] ** 2 * output.shape[2]
            bound = gradient.bound + terms.bit_length()
            dtype = np.int32 if bound <= 31 else np.int64
            wide_gradient = c.buffer(f"{source}.grad", dtype, x.shape)
            c.emit("backward", "binary_conv_input_grad",
                   {"g": gradient.tensor, "w": self._weights, "gx": wide_gradient},
                   channels=x.shape[2], **self._geometry())  # fmt: skip
            c.contribute(source, Gradient(wide_gradient, gradient.exponents, bound))
        if self._latent:
            self._latent.emit_update(c, x, gradient, output.shape[0] * output.shape[1], padding=self._padding(),
                                     **self._geometry())  # fmt: skip
