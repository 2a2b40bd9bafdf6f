"""Scales of activations and exponents of gradients.

Activation of q bits (Eq. 1 of the paper), value = scale (stored - zero):
    scale = (max - min) / (2^q - 1)
Gradient of q bits: the derivative of one sample's loss with respect to the *stored integers* of a tensor,
    derivative = stored 2^exponent[sample],    |stored| < 2^(q-1)
with the least exponent that holds the sample's largest entry. A sample without gradient has exponent NO_GRADIENT.
32-bit tensors hold 24 significant bits, so that sums of products fit 64 bits.

docs/law.md sections 5 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Int64, bit_length, round_fraction, round_shift

NO_GRADIENT = -(1 << 20)
ALIGN_BITS = 60
STORAGE: dict[int, np.dtype] = {8: np.dtype(np.int8), 16: np.dtype(np.int16), 32: np.dtype(np.int32)}
SIGNIFICANT = {8: 8, 16: 16, 32: 24}


@dataclass(frozen=True)
class Activation:
    """How a tensor of q bits stores real values: value = scale * (stored - zero)."""

    bits: int
    scale: Fraction
    zero: int

    @property
    def low(self) -> int:
        return -(1 << (SIGNIFICANT[self.bits] - 1))

    @property
    def high(self) -> int:
        return (1 << (SIGNIFICANT[self.bits] - 1)) - 1

    @property
    def largest(self) -> int:
        """Bound of |stored - zero|."""
        return max(self.high - self.zero, self.zero - self.low)

    @staticmethod
    def of_range(low: Fraction, high: Fraction, bits: int) -> Activation:
        """The range is widened to contain 0, so that zero is stored exactly.

        >>> Activation.of_range(Fraction(-1), Fraction(1), 8)
        Activation(bits=8, scale=Fraction(2, 255), zero=0)
        """
        low, high = min(low, Fraction(0)), max(high, Fraction(0))
        if low == high:
            high = Fraction(1)
        replay_layers = (1 << SIGNIFICANT[bits]) - 1
        scale = (high - low) / replay_layers
        lowest = -(1 << (SIGNIFICANT[bits] - 1))
        zero = lowest + round_fraction(-low / scale)
        return Activation(bits, scale, min(max(zero, lowest), -lowest - 1))


@dataclass(frozen=True)
class Scales:
    """Real values of one unit of exact sums, a channel each: unit * multiples[channel]; unit > 0."""

    unit: Fraction
    multiples: tuple[int, ...]

    def __len__(self) -> int:
        """Channels."""
        return len(self.multiples)

    def __iter__(self) -> Iterator[Fraction]:
        return (self.unit * multiple for multiple in self.multiples)

    @property
    def positive(self) -> bool:
        return min(self.multiples) > 0


def quantise_samples(values: Int64, exponents: Int64, bits: int) -> tuple[NDArray, Int64]:
    """Round each sample's exact gradient `values * 2^exponents` to q bits with a new exponent per sample.

    The shift k is the least k >= 0 with round(max|values| / 2^k) < 2^(q-1).
    """
    limit = (1 << (SIGNIFICANT[bits] - 1)) - 1
    samples = len(values)
    largest = np.abs(values.reshape(samples, -1)).max(axis=1)
    shift = np.maximum(bit_length(largest) - (SIGNIFICANT[bits] - 1), 0)
    shift = shift + (round_shift(largest, shift) > limit)
    stored = round_shift(values, shift.reshape(-1, *[1] * (values.ndim - 1)))
    exponents = np.where(largest > 0, exponents + shift, NO_GRADIENT)
    return stored.astype(STORAGE[bits]), exponents


def align(terms: list[tuple[Int64, Int64, int]]) -> tuple[list[Int64], Int64]:
    """Bring terms (values, exponents, bound bits) with |values| < 2^bound to one exponent per sample.

    exponent = max over terms of (exponent + bound) - ALIGN_BITS: the largest term is shifted left into 60 bits, a
    smaller one is rounded only where it reaches below that. Terms of a sample without gradient count as 0.
    """
    reach = [np.where(exponents > NO_GRADIENT, exponents + bound, NO_GRADIENT) for _, exponents, bound in terms]
    top = np.maximum.reduce(reach)
    common = np.where(top > NO_GRADIENT, top - ALIGN_BITS, NO_GRADIENT)
    aligned = []
    for values, exponents, _ in terms:
        live = exponents > NO_GRADIENT
        shape = (-1, *[1] * (values.ndim - 1))
        shifted = round_shift(values, np.where(live, common - exponents, 0).reshape(shape))
        aligned.append(np.where(live.reshape(shape), shifted, 0))
    return aligned, common


def merged_exponent(exponents: Int64, bound: int) -> tuple[int, list[int]]:
    """The common exponent of sums over the minibatch, |sums| < 2^bound, and the samples that have a gradient.

    It is max(exponents) + bound + bits(samples) - 62, or NO_GRADIENT where there is none.
    """
    live = [n for n, exponent in enumerate(exponents) if exponent > NO_GRADIENT]
    if not live:
        return NO_GRADIENT, []
    return int(exponents.max()) + bound + len(exponents).bit_length() - 62, live


def merge_samples(sums: Int64, exponents: Int64, bound: int) -> tuple[Int64, int]:
    """Add per-sample sums `sums[n] * 2^exponents[n]`, |sums| < 2^bound, over the minibatch: (total, exponent)."""
    common, live = merged_exponent(exponents, bound)
    total = np.zeros(sums.shape[1:], np.int64)
    for n in live:
        total += round_shift(sums[n], common - int(exponents[n]))
    return total, common
