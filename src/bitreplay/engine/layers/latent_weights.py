"""Latent weights of a binary convolution: b bits each (4, 8, 16 or 32), whose sign is the binary weight.

    binary weight  +1 where v >= 0, else -1;    v lies in [-2^(b-1), 2^(b-1))
    start          v = k - 1 for +1 and v = -k for -1: k units to the other sign from either side
    step           v = clip( v - stochastic( sum of g x * k 2^gain * rate / samples ) )

g is the derivative by the exact sums, which the BatchNorm behind has freed from the weights' scale; so one gain serves
all layers. Larger ones let more weights change sign. With 2^12, and 2^10 for 4 bits, few or none of 8-bit weights that
all start equally far do; started at other distances 10,000 to 100,000 of seven million change, and accuracy is no
better than with frozen ones (docs/results.md, fig_backward_bits).
It is Bi-Real Net's magnitude-aware gradient: for w^ = s sign(w), s = mean|w| of an output, that takes dL/dw = s dL/dw^,
which is the derivative by the sums. Latents v = K w with one K a layer follow it to the letter: they start in
proportion to the scale of their output (`by_scale`; Bi-Real-18's scales differ by 2 to 6 % within a layer).
Clipping at the ends of b bits is the window of the straight-through derivative: a weight there still moves back.
The gradient of a weight is a sum over samples and pixels of +-g. For it the samples are brought to one exponent, the
largest of the minibatch, in 16 bits (32 where gradients have 32):
    aligned = round( g 2^up / 2^(E - e[n]) ),  E = max e,  up = 16 - q (8 of 32 for the 24 significant bits)
The sums are exact. The step is taken in the backward pass, tile by tile, and no gradient tensor is kept; an element's
random number depends on its place alone. 4-bit weights lie two in a byte, the even channel in the lower half.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Int64, Multiplier, round_shift, saturate, wide
from bitreplay.engine.arithmetic.packing import pack, signs, words_for
from bitreplay.engine.arithmetic.quant import NO_GRADIENT, SIGNIFICANT, STORAGE
from bitreplay.engine.arithmetic.sgd import change
from bitreplay.engine.builder import Builder, Gradient, Value
from bitreplay.engine.layers.layer import need
from bitreplay.engine.operations import Run, operation

# Four bits start four units from the other sign, and every rounding at random is a large part of that.
LATENT_GAIN = {4: 10, 8: 12, 16: 12, 32: 12}
ALIGNED_BITS = {8: 16, 16: 16, 32: 32}


def store_latent(values: NDArray, bits: int) -> NDArray:
    """Whole numbers, channels last, as they lie in memory."""
    if bits != 4:
        return values.astype(STORAGE[bits])
    halves = (values & 15).astype(np.uint8)
    if halves.shape[-1] % 2:
        halves = np.concatenate([halves, np.zeros((*halves.shape[:-1], 1), np.uint8)], axis=-1)
    return halves[..., 0::2] | (halves[..., 1::2] << 4)


def load_latent(stored: NDArray, channels: int, bits: int) -> Int64:
    if bits != 4:
        return wide(stored)
    halves = np.stack([stored & 15, stored >> 4], axis=-1).reshape(*stored.shape[:-1], -1)
    return ((wide(halves) ^ 8) - 8)[..., :channels]


@operation("latent_signs", code=17, reads="latent", writes="w", attributes="channels bits")
def latent_signs(t: Any, a: Any, run: Run) -> None:
    t.w[...] = pack(load_latent(t.latent, a.channels, a.bits) >= 0)


@operation("latent_update", code=18, reads="latent g e x", writes="latent",
           attributes="channels stride pad padding bits up mantissa shift number")  # fmt: skip
def latent_update(t: Any, a: Any, run: Run) -> None:
    outputs, kernel = t.latent.shape[:2]
    samples, out_h, out_w, _ = t.g.shape
    top, exponents = int(t.e.max()), wide(t.e).reshape(-1, 1, 1, 1)
    if top <= NO_GRADIENT:
        return
    g = np.where(exponents > NO_GRADIENT, round_shift(wide(t.g) << a.up, top - exponents), 0).reshape(-1, outputs)
    span = [(size - 1) * a.stride + kernel for size in (out_h, out_w)]
    # Outside the map: +1 or nothing. Inside, behind the last window, nothing is read.
    x = np.full((samples, *span, a.channels), a.padding, np.int64)
    rows, columns = (min(size, reach - a.pad) for size, reach in zip(t.x.shape[1:3], span, strict=True))
    x[:, a.pad : a.pad + rows, a.pad : a.pad + columns] = signs(t.x[:, :rows, :columns], a.channels)
    low, high = -(1 << (a.bits - 1)), (1 << (a.bits - 1)) - 1
    numbers = np.arange(outputs * kernel * kernel * a.channels, dtype=np.uint32)
    numbers = numbers.reshape(outputs, kernel, kernel, a.channels)
    for row in range(kernel):
        for column in range(kernel):
            seen = x[:, row : row + (out_h - 1) * a.stride + 1 : a.stride]
            seen = seen[:, :, column : column + (out_w - 1) * a.stride + 1 : a.stride]
            sums = g.T @ seen.reshape(-1, a.channels)
            step = change(sums, top - a.up, a.mantissa, a.shift, run, a.number, numbers[:, row, column])
            moved = load_latent(t.latent[:, row, column], a.channels, a.bits) - step
            t.latent[:, row, column] = store_latent(saturate(moved, low, high), a.bits)


def equal(name: str, shape: tuple[int, ...], start: int, highest: int, scale: NDArray) -> Int64:
    """How many units the weights of a layer start from the other sign."""
    return np.full(shape, start, np.int64)


def by_scale(start: int, highest: int, scale: NDArray) -> Int64:
    """Units for each output, in proportion to its scale, `start` for the mean; halves go up."""
    scales = [max(int(each), 0) for each in scale]
    total = max(sum(scales), 1)
    return np.array(
        [min(max((2 * start * len(scales) * s + total) // (2 * total), 1), highest) for s in scales], np.int64
    )


# Experiments try others: spread, by the outputs' scales, or as they were trained (experiments/controls.py).
DISTANCES = [equal]


class LatentWeights:
    """The latent weights of one layer: `words` is where their signs lie, packed."""

    def __init__(
        self, c: Builder, name: str, weights: NDArray[np.uint64], scale: NDArray, channels: int, start: int, gain: int
    ) -> None:
        self.bits, self._factor, self._channels = c.bits.backward_binary, start * Fraction(2) ** gain, channels
        need(1 <= start <= 1 << (self.bits - 1), f"{name}: latent weights cannot start at {start} units")
        ones = signs(weights, channels) > 0
        away = DISTANCES[0](name, ones.shape, start, 1 << (self.bits - 1), scale)
        latent = store_latent(np.where(ones, away - 1, -away), self.bits)
        self.latent = c.parameter(f"{name}.latent", latent)
        self.words = c.hold(c.buffer(f"{name}.w", np.uint64, (*weights.shape[:3], words_for(channels)), False))
        c.emit("prepare", "latent_signs", {"latent": self.latent, "w": self.words}, channels=channels, bits=self.bits)

    def emit_update(self, c: Builder, x: Value, gradient: Gradient, pixels: int, **geometry: int) -> None:
        """The step, in the backward list; `pixels` of the output."""
        other = c.bits.backward_other
        assert gradient.bound == SIGNIFICANT[other] - 1, "latent weights learn from stored gradients"
        reach = ALIGNED_BITS[other] - 1 + (c.max_samples * pixels).bit_length()
        need(reach <= 62, f"sums of {c.max_samples} samples of {pixels} pixels must fit 62 bits")
        step = Multiplier.of(self._factor)
        c.emit("backward", "latent_update",
               {"latent": self.latent, "g": gradient.tensor, "e": gradient.exponents, "x": x.tensor},
               channels=self._channels, bits=self.bits, up=ALIGNED_BITS[other] - SIGNIFICANT[other],
               mantissa=step.mantissa, shift=step.shift, number=self.latent, **geometry)  # fmt: skip
