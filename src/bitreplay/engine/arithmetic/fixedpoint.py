"""Rounding, saturation and multiplication by a real number, in integers.

The engine rounds by these rules (softmax.py has one of its own). docs/law.md sections 1 and 2 state them with worked
numbers; core/src/arithmetic/fixedpoint.h is the native twin.

    round_shift(x, s)      x / 2^s to the nearest integer, ties away from zero; s < 0 shifts left
    stochastic_shift       floor((x + r) / 2^s), r uniform below 2^s: right on average
    Multiplier(m, s)       the real number m 2^-s with 2^30 <= |m| < 2^31, or 0

Arrays are int64 inside an operation, whatever the width they are stored with.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]

MANTISSA_BITS = 31
LARGEST_SHIFT = 62


def wide(x: NDArray) -> Int64:
    """The same integers as int64; refuses anything that is not an integer array."""
    array = np.asarray(x)
    assert array.dtype.kind in "iu", f"integer array expected, got {array.dtype}"
    return array.astype(np.int64)


def round_shift(x: Int64, shift: int | Int64) -> Int64:
    """x / 2^shift rounded to nearest, ties away from zero. Exact left shift where shift < 0.

    >>> round_shift(np.array([5, -5, 6, -6, 7]), 2)
    array([ 1, -1,  2, -2,  2])
    """
    x = np.asarray(x, np.int64)
    s = np.asarray(shift, np.int64)
    right = np.clip(s, 0, LARGEST_SHIFT)
    half = np.where(right > 0, np.int64(1) << np.maximum(right - 1, 0), 0)
    rounded = (x + half - ((x < 0) & (right > 0))) >> right
    rounded = np.where(s > LARGEST_SHIFT, 0, rounded)
    return np.where(s < 0, x << np.clip(-s, 0, LARGEST_SHIFT), rounded)


def stochastic_shift(x: Int64, shift: int | Int64, random: NDArray[np.uint32]) -> Int64:
    """floor((x + r) / 2^shift) with r made of 32 random bits, so that the mean is x / 2^shift.

    The 32 bits become the highest bits below 2^shift. Beyond LARGEST_SHIFT, x is first shifted down with floor.
    """
    s = np.asarray(shift, np.int64)
    x = np.asarray(x, np.int64) >> np.clip(s - LARGEST_SHIFT, 0, 63)
    s = np.minimum(s, LARGEST_SHIFT)
    bits = random.astype(np.int64)
    r = np.where(s >= 32, bits << np.clip(s - 32, 0, 30), bits >> np.clip(32 - s, 0, 32))
    right = np.maximum(s, 0)
    return np.where(s < 0, x << np.clip(-s, 0, LARGEST_SHIFT), (x + np.where(s > 0, r, 0)) >> right)


def saturate(x: Int64, low: int, high: int) -> Int64:
    return np.clip(x, low, high)


def divide_round(a: int, b: int) -> int:
    """a / b to the nearest integer, ties away from zero; b > 0. Python integers, any size.

    >>> divide_round(7, 2), divide_round(-7, 2), divide_round(-6, 4)
    (4, -4, -2)
    """
    magnitude = (2 * abs(a) + b) // (2 * b)
    return magnitude if a >= 0 else -magnitude


def divide_each(a: Int64, b: int | Int64) -> Int64:
    """divide_round of arrays: a / b to the nearest integer, ties away from zero; |a| < 2^63, 0 < b < 2^61.

    >>> divide_each(np.array([7, -7, -6]), np.array([2, 2, 4]))
    array([ 4, -4, -2])
    """
    magnitude = np.abs(np.asarray(a, np.int64))
    quotient = magnitude // b
    rounded = quotient + (2 * (magnitude - quotient * b) >= b)
    return np.where(np.asarray(a) < 0, -rounded, rounded)


def round_fraction(x: Fraction) -> int:
    return divide_round(x.numerator, x.denominator)


def floor_log2(x: Fraction) -> int:
    """The largest k with 2^k <= x; x > 0.

    >>> floor_log2(Fraction(1)), floor_log2(Fraction(7, 2)), floor_log2(Fraction(1, 3))
    (0, 1, -2)
    """
    # x lies between 2^(k - 1) and 2^(k + 1).
    k = x.numerator.bit_length() - x.denominator.bit_length()
    return k if x >= Fraction(2) ** k else k - 1


def binary_point(x: Fraction, bits: int) -> int:
    """The finest binary point at which a positive number stays below 2^bits.

    >>> binary_point(Fraction(3, 4), 8), binary_point(Fraction(1), 8), binary_point(Fraction(1000), 8)
    (8, 7, -2)
    """
    return bits - 1 - floor_log2(x)


def bit_length(x: Int64) -> Int64:
    """Bits of |x|: 0 for 0, 1 for 1, 8 for 255.

    >>> bit_length(np.array([0, 1, 255, -256]))
    array([0, 1, 8, 9])
    """
    magnitude = np.abs(np.asarray(x, np.int64))
    bits = np.zeros(magnitude.shape, np.int64)
    for step in (32, 16, 8, 4, 2, 1):
        large = (magnitude >> step) > 0
        bits = bits + np.where(large, step, 0)
        magnitude = np.where(large, magnitude >> step, magnitude)
    return bits + (magnitude > 0)


@dataclass(frozen=True)
class Multiplier:
    """The real number mantissa / 2^shift; the mantissa is normalised to 31 bits, or 0.

    >>> Multiplier.of(Fraction(3, 4))
    Multiplier(mantissa=1610612736, shift=31)
    """

    mantissa: int
    shift: int

    @staticmethod
    def of(value: Fraction) -> Multiplier:
        if value == 0:
            return Multiplier(0, 0)
        shift = binary_point(abs(value), MANTISSA_BITS)
        mantissa = round_fraction(value * Fraction(2) ** shift)
        if abs(mantissa) == 1 << MANTISSA_BITS:
            mantissa, shift = mantissa // 2, shift - 1
        return Multiplier(mantissa, shift)

    @property
    def value(self) -> Fraction:
        return Fraction(self.mantissa) / Fraction(2) ** self.shift

    def times(self, x: Int64) -> Int64:
        """x * value, rounded once; |x| <= 2^31, so that product and rounding stay inside 63 bits."""
        return round_shift(np.asarray(x, np.int64) * self.mantissa, self.shift)
