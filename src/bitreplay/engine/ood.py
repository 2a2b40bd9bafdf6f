"""What pictures that were not learned are expected to look like, from the sums alone: docs/law.md section 14.

    F = tr(A^-1 S)                 how many features the sums have fitted; F / n is the mean leverage
    r = n / (n - F)                by so much scores of other pictures vary more than those of learned ones
    D = F r^2                      the squared distance from a picture of a known class to its mean
    T = 3/4 sqrt(r sep)            the temperature, sep the classes' mean squared distance from the middle; at least 1

A picture x with the best score s is unknown if |x - mu|^2 / 8 - s + 3/4 s_0 > c D, s_0 the score of a class that stands
in the middle: half of its squared distance to the nearest mean less three quarters of that to the middle. c belongs to
the share of known pictures that may be refused (CURVE). 8, the curve and 3/4 were found on pictures that no figure uses
(docs/unknown.md). The trace is estimated with 32 vectors of signs for each part of x.

mu is in integers, and under the covariance of many pictures that is off by more than a little: hence s_0.

Values have 16 bits behind the point unless said otherwise. A function of the sums alone, so it merges and unlearns with
them. This is the reference; core/src/sums/ood.cc and ood_score.cc do the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.counter import key, random_bits
from bitreplay.engine.arithmetic.fixedpoint import (
    Int64,
    bit_length,
    divide_each,
    divide_round,
    round_fraction,
    round_shift,
    wide,
)
from bitreplay.engine.discriminant import Solution, middle_of
from bitreplay.engine.mahalanobis import Factor
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.shrunk_means import apart, drawn
from bitreplay.engine.sums import Sums

POINT = 16
RATIO_POINT = 24
PROBES_BITS = 5
MANTISSA = 30
LARGEST = 1 << 46
LARGEST_SEPARATION = (1 << 31) - 1
FINE = 8  # bits behind the point of the mean of all m'_c
# Of known pictures, in percent, this many have more than so many thousandths of D.
CURVE = ((1, 209), (2, 189), (5, 166), (10, 148), (20, 125), (30, 109), (50, 84))

Lengths = Callable[[Factor, NDArray[np.int16]], tuple[Int64, Int64]]


@dataclass(frozen=True)
class OodModel:
    """fitted is F, expected is D; ratio is r with 24 bits behind the point; s_0 = weights . x + bias, in the scores'
    unit."""

    fitted: int
    ratio: int
    expected: int
    temperature: int
    weights: NDArray[np.int32]
    bias: int


def ood(
    sums: Sums, solution: Solution, factor: Factor, lengths: Lengths, shrinkage: Shrinkage = EXACT
) -> OodModel:  # fmt: skip
    """Of a solution with means that were shrunk so and the factor of the same sums."""
    total = factor.pictures << POINT
    rest = sum(_unfitted(factor, part, lengths) for part in range(len(factor.parts)))
    fitted = min(max(((factor.n_features - factor.dropped_features) << POINT) - rest, 0), total - (total >> 4))
    down = max(total.bit_length() - 38, 0)
    ratio = divide_round((total >> down) << RATIO_POINT, (total - fitted) >> down)  # 1 to 16
    once = divide_round(fitted * ratio, 1 << RATIO_POINT)
    expected = divide_round(once * ratio, 1 << RATIO_POINT)  # < 2^29 2^8
    weights, length = middle(sums, solution, shrinkage.pictures)
    separation = divide_round(_separation(sums, solution, length, shrinkage.pictures) * ratio, 1 << RATIO_POINT)
    temperature = max(isqrt(9 * separation << (POINT - 4)), 1 << POINT)  # < 2^51 under the root
    bias = -int((wide(weights) * factor.centre).sum()) - divide_round(length, 2)
    return OodModel(fitted, ratio, expected, temperature, weights, bias)


def probes(factor: Factor, part: int) -> NDArray[np.int16]:
    """Vectors of signs in one part of x: +1 where the highest random bit is 1 (section 4: seed 0, step, part)."""
    start = sum(factor.parts[:part])
    elements = np.arange(start, start + factor.parts[part], dtype=np.uint32)
    result = np.zeros((1 << PROBES_BITS, factor.n_features), np.int16)
    for step in range(1 << PROBES_BITS):
        result[step, elements] = 2 * (random_bits(key(0, step, part), elements) >> np.uint32(31)).astype(np.int16) - 1
    return result


def _unfitted(factor: Factor, part: int, lengths: Lengths) -> int:
    """lambda D times the trace of A^-1 over one part, at most the part's length."""
    squares, exponents = lengths(factor, probes(factor, part))
    bound = factor.parts[part] << POINT
    return int(round_shift(np.minimum(scaled(squares, factor.ridges[part], exponents), bound).sum(), PROBES_BITS))


def middle(sums: Sums, solution: Solution, k: int) -> tuple[NDArray[np.int32], int]:
    """The weights of the mean of all m'_c, as many times as they have pictures, and its squared length about mu."""
    counts = sums.counts[:, None]
    weights = divide_each((wide(solution.weights) * counts).sum(axis=0), sums.pictures)  # |sum| <= 2^61
    away = drawn((wide(sums.class_sums) - counts * middle_of(sums)) << FINE, counts, k).sum(axis=0)  # < 2^47
    return weights.astype(np.int32), int(round_shift((weights * divide_each(away, sums.pictures)).sum(), FINE))


def _separation(sums: Sums, solution: Solution, middle_length: int, k: int) -> int:
    """sum_c n_c |m'_c - mu|^2 / n less that of their mean."""
    counts = sums.counts[sums.counts > 0]
    distances = scaled(drawn(apart(sums, solution), counts, k), solution.pictures, solution.exponent)
    total = divide_round(int((counts * np.clip(distances, 0, LARGEST_SEPARATION)).sum()), sums.pictures)
    return max(total - int(scaled(np.int64(middle_length), solution.pictures, solution.exponent)), 0)


def scaled(values: Int64, factor: int, exponent: int | Int64) -> Int64:
    """values factor 2^exponent with 16 bits behind the point, within +-2^46; factor > 0. Both are first rounded to 30
    bits, so that the product fits 62."""
    values = np.asarray(values, np.int64)
    down = np.maximum(bit_length(values) - MANTISSA, 0)
    less = max(factor.bit_length() - MANTISSA, 0)
    product = round_shift(values, down) * divide_round(factor, 1 << less)
    shift = -(np.asarray(exponent, np.int64) + POINT + down + less)
    large = bit_length(product) - shift > 46
    return np.where(large, np.sign(product) * LARGEST, round_shift(product, np.maximum(shift, -46)))


def ood_score(
    factor: Factor, squares: Int64, exponents: Int64, solution: Solution, best: Int64, middles: Int64
) -> Int64:
    """|x - mu|^2 / 8 - s + 3/4 s_0 of pictures, from their lengths about mu, their best scores and s_0, below 2^54."""
    away = scaled(squares, factor.pictures, exponents + factor.point)
    return round_shift(away, 3) - scaled(4 * best - 3 * middles, solution.pictures, solution.exponent - 2)


def as_solution(model: OodModel, solution: Solution) -> Solution:
    """The class that stands in the middle, alone."""
    return replace(solution, weights=model.weights[None], biases=np.array([model.bias], np.int64))


def limit(model: OodModel, share: Fraction) -> int:
    """The strangeness that this share of known pictures is expected to exceed; shares from 1 % to 50 %."""
    rounded = round_fraction(share * (1 << POINT))
    points = [(divide_round(percent << POINT, 100), divide_round(part << POINT, 1000)) for percent, part in CURVE]
    at = sum(rounded >= start for start, _ in points)
    if at in (0, len(points)):
        part = points[min(at, len(points) - 1)][1]
    else:
        (low, high), (next_low, next_high) = points[at - 1], points[at]
        part = high + divide_round((next_high - high) * (rounded - low), next_low - low)
    return divide_round(model.expected * part, 1 << POINT)
