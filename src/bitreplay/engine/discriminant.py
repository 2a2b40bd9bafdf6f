"""The linear discriminant of sums, in integers: docs/law.md section 13, steps 2 to 6.

    m_c = s_c / n_c,   S = (G - sum_c s_c s_c^T / n_c) / n,   A = S + lambda D,   W = A^-1 M,   b_c = -1/2 m_c . W_c
    answer = the first class c with the largest W_c . x + b_c

D is diagonal: for each part of x the mean of S's diagonal over it; a part whose mean is 0 has A = S + I there. The
means are taken about one whole-numbered vector mu near the middle of all pictures, which adds the same to every class's
score and saves bits.

shrunk_means.py then draws the means of few pictures to the middle.

    solution = solve(sums, parts=[512, 512])          lengths of the parts; they add up to the features
    scores(solution, x)                               (pictures, classes) int64
    answers(solution, x)                              (pictures,) class numbers

`shrink` is lambda, a fraction of the number of pictures, features, classes and the part's length: shrinkage.py, or
another function of these. Everything is a function of the sums alone. Every sum is exact and is rounded once, so
threads, tiles and vectors do not change a bit. Cost: d^3 / 6 + 2 classes d^2 products of 32 bits.

This is the reference; core/src/sums/solve.cc does the same, which native_discriminant.py calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Int64, bit_length, divide_each, round_shift, saturate, wide
from bitreplay.engine.shrinkage import EXACT
from bitreplay.engine.sums import Sums

ONE = 30  # bits behind the point of the factor
SMALLEST_PIVOT = 1 << 36  # 2^-24, with 60 bits behind the point
LIMIT = (1 << 31) - 1
LOW = 16  # bits behind the point of what is substituted
MEAN_BITS, CENTRE_BITS = 32, 16
ROOM = 20  # bits of the largest scaled mean, at first
ABSENT = -(1 << 62)  # the score of a class without pictures

Lambda = Callable[[int, int, int, int], tuple[int, int]]


@dataclass(frozen=True)
class Solution:
    """Weights and biases of every class; the real score is (W_c . x + b_c) * pictures * 2^exponent.

    weights           (classes, d) int32, |w| <= 2^30
    biases            (classes,) int64, ABSENT for a class without pictures
    dropped_features  how many features are a combination of others, within rounding; their weights are 0
    """

    weights: NDArray[np.int32]
    biases: Int64
    exponent: int
    pictures: int
    dropped_features: int


def solve(sums: Sums, parts: Sequence[int], shrink: Lambda = EXACT) -> Solution:
    """The discriminant of these sums. ValueError without a picture, or if they cannot be the sums of pictures."""
    return solve_factored(sums, factor_of(sums, parts, shrink))


@dataclass(frozen=True)
class Lower:
    """L with E L L^T E = n A 2^point: (d, d) int64, 30 bits behind the point; the powers of two of E; what each part's
    diagonal was raised by."""

    rows: Int64
    halves: Int64
    ridges: tuple[int, ...]
    point: int

    @property
    def dropped_features(self) -> int:
        return int((np.diagonal(self.rows) == 0).sum())


def factor_of(sums: Sums, parts: Sequence[int], shrink: Lambda) -> Lower:
    lambdas = checked_parts(sums, parts, shrink)
    scatter, point = within_classes(sums)
    raised = ridges(scatter, point, sums.pictures, parts, lambdas)
    scaled, halves = unit_scale(shrunk(scatter, parts, raised))
    return Lower(cholesky(scaled), halves, tuple(raised), point)


def middle_of(sums: Sums) -> Int64:
    """mu, integers near the middle of all pictures."""
    return divide_each(wide(sums.class_sums).sum(axis=0), sums.pictures)


def solve_factored(sums: Sums, factor: Lower) -> Solution:
    present, centre = np.flatnonzero(sums.counts), middle_of(sums)
    columns, places = substitute(factor.rows, *scaled_means(sums, present, centre, factor.halves))
    weights, exponent = common_scale(columns, places, factor.halves)
    solution = Solution(
        np.zeros((sums.classes, sums.n_features), np.int32),
        np.full(sums.classes, ABSENT, np.int64),
        factor.point - exponent,
        sums.pictures,
        factor.dropped_features,
    )
    solution.weights[present] = weights
    solution.biases[present] = biases(sums, present, centre, weights)
    return solution


def checked_parts(sums: Sums, parts: Sequence[int], shrink: Lambda) -> list[tuple[int, int]]:
    """lambda of each part, once all arguments of `solve` are found right."""
    sums.check()
    if sums.pictures == 0:
        raise ValueError("These sums have no images: there are no classes to tell apart.")
    if any(length < 1 for length in parts) or sum(parts) != sums.n_features:
        raise ValueError(f"The parts' lengths must add up to {sums.n_features}, got {list(parts)}.")
    terms = [shrink(sums.pictures, sums.n_features, sums.classes, length) for length in parts]
    for top, bottom in terms:
        if not (0 < bottom <= 1024 * top and top <= 8 * bottom and top * bottom < 1 << 62):
            raise ValueError(f"lambda must be in [1/1024, 8], the product of its terms below 2^62; got {top}/{bottom}.")
    return terms


def within_classes(sums: Sums) -> tuple[Int64, int]:
    """n S with f bits behind the point, and f: the lower triangle counts. |n S| < m 2^14 before the shift."""
    point = min(31, 44 - sums.extent.bit_length())
    present = sums.counts > 0
    counts, s = sums.counts[present, None], wide(sums.class_sums[present])
    q = divide_each(s, counts)
    r = s - q * counts  # |r| <= n_c / 2
    v = divide_each(r << point, counts)
    products = np.zeros((sums.n_features, sums.n_features), np.int64)
    products[np.tril_indices(sums.n_features)] = sums.products
    return ((products - s.T @ q - q.T @ r) << point) - r.T @ v, point


def shrunk(scatter: Int64, parts: Sequence[int], raised: Sequence[int]) -> Int64:
    """n A: the scatter with its diagonal raised, part by part."""
    places = np.arange(len(scatter), dtype=np.int64)
    matrix = scatter.copy()
    added = np.repeat(np.array(raised, np.int64), parts)
    matrix[places, places] = np.maximum(scatter[places, places], 0) + added
    return matrix


def ridges(scatter: Int64, point: int, pictures: int, parts: Sequence[int], lambdas: Sequence) -> list[int]:
    """What each part's diagonal is raised by."""
    diagonal, end, values = np.maximum(np.diagonal(scatter), 0), 0, []
    for length, (top, bottom) in zip(parts, lambdas, strict=True):
        part, end = slice(end, end + length), end + length
        mean = mean_of(diagonal[part])
        values.append(max(mean * top // bottom, 1) if mean else pictures << point)
    return values


def mean_of(diagonal: Int64) -> int:
    """Rounded down; the sum may have more than 63 bits."""
    length = len(diagonal)
    return int((diagonal // length).sum() + (diagonal % length).sum() // length)


def unit_scale(matrix: Int64) -> tuple[Int64, Int64]:
    """Rows and columns divided by powers of two, the diagonal in [1/4, 1), 60 bits behind the point; the powers."""
    halves = (bit_length(np.diagonal(matrix)) + 1) >> 1
    both = halves[:, None] + halves
    limit = np.int64(1) << both
    return round_shift(saturate(matrix, -limit, limit), both - 2 * ONE), halves


def cholesky(scaled: Int64) -> Int64:
    """L with L L^T = the matrix, 30 bits behind the point. A row whose pivot is too small is 0, diagonal included.

    A row's squares add up to its diagonal, less than 1, or the row is left out: so no sum exceeds 2^60, and what wraps
    belongs to a row that is on its way out.
    """
    size = len(scaled)
    factor, squares = np.zeros((size, size), np.int64), np.zeros(size, np.int64)
    for j in range(size):
        pivot = int(scaled[j, j] - squares[j])
        if pivot < SMALLEST_PIVOT:
            factor[j] = 0
            continue
        factor[j, j] = isqrt(pivot)
        below = slice(j + 1, size)
        rest = scaled[below, j] - factor[below, :j] @ factor[j, :j]
        factor[below, j] = entries = saturate(divide_each(rest, factor[j, j]), -LIMIT, LIMIT)
        squares[below] = np.minimum(squares[below] + entries * entries, 1 << 61)
    return factor


def scaled_means(sums: Sums, present: Int64, centre: Int64, halves: Int64) -> tuple[Int64, Int64, Int64]:
    """(m_c - mu) with 32 bits behind the point; the numbers' powers; each class's largest bit above its power."""
    counts = sums.counts[present, None]
    total = wide(sums.class_sums[present]) - counts * centre
    quotients = divide_each(total, counts)
    means = (quotients << MEAN_BITS) + divide_each((total - quotients * counts) << MEAN_BITS, counts)
    return means, halves, (bit_length(means) - halves).max(axis=1)


def substitute(factor: Int64, means: Int64, halves: Int64, top: Int64) -> tuple[Int64, Int64]:
    """A^-1 (m_c - mu) of each class, scaled, and the bits behind its point.

    Both substitutions bound the sum of the squares of what they find; where it is exceeded they start again with four
    bits less. Classes do not see each other.
    """
    forward, _, room = forward_fitting(factor, means, halves, top)
    shift, backward = np.zeros(len(means), np.int64), np.zeros_like(means)
    again = np.arange(len(means))
    while len(again):
        rows = round_shift(forward[again], shift[again, None]) << (ONE - LOW)
        backward[again], small = _backward(factor, rows)
        again = again[~small]
        shift[again] += 4
    return backward, MEAN_BITS + LOW + room - top - shift


def forward_fitting(factor: Int64, means: Int64, halves: Int64, top: Int64) -> tuple[Int64, Int64, Int64]:
    """L z = a row, scaled, for each: z, the sum of its squares, and the bits of room that keep that at most 2^60."""
    room, forward = np.full(len(means), ROOM, np.int64), np.zeros_like(means)
    squares, again = np.zeros(len(means), np.int64), np.arange(len(means))
    while len(again):
        rows = round_shift(means[again], halves + (top - room)[again, None] - ONE)
        forward[again], squares[again] = _forward(factor, rows)
        again = again[squares[again] > 1 << 60]
        room[again] -= 4
    return forward, squares, room


def _forward(factor: Int64, rows: Int64) -> tuple[Int64, Int64]:
    """L z = row for each row, z with 16 bits behind the point, and the sum of the squares of its whole parts."""
    high, low, squares = np.zeros_like(rows), np.zeros_like(rows), np.zeros(len(rows), np.int64)
    for j in range(len(factor)):
        if factor[j, j]:
            rest = rows[:, j] - high[:, :j] @ factor[j, :j] - round_shift(low[:, :j] @ factor[j, :j], LOW)
            high[:, j], low[:, j] = _quotient(rest, factor[j, j])
            squares = np.minimum(squares + high[:, j] * high[:, j], 1 << 61)
    return (high << LOW) + low, squares


def _backward(factor: Int64, rows: Int64) -> tuple[Int64, NDArray[np.bool_]]:
    """L^T w = row for each row, w with 16 bits behind the point, and whether d times its squares is at most 2^62."""
    high, low, squares = np.zeros_like(rows), np.zeros_like(rows), np.zeros(len(rows), np.int64)
    rest, fine = rows.copy(), np.zeros_like(rows)
    for j in reversed(range(len(factor))):
        if factor[j, j]:
            high[:, j], low[:, j] = _quotient(rest[:, j] - round_shift(fine[:, j], LOW), factor[j, j])
            rest[:, :j] -= high[:, j, None] * factor[j, :j]
            fine[:, :j] += low[:, j, None] * factor[j, :j]
            squares = np.minimum(squares + high[:, j] * high[:, j], 1 << 62)
    return (high << LOW) + low, squares <= (1 << 62) // len(factor)


def _quotient(rest: Int64, root: int) -> tuple[Int64, Int64]:
    """rest / root: the nearest integer, saturated, and 16 bits of what remains."""
    high = saturate(divide_each(rest, root), -LIMIT, LIMIT)
    low = divide_each((rest - high * root) << LOW, root)
    return high, saturate(low, -(1 << (LOW - 1)), 1 << (LOW - 1))


def common_scale(columns: Int64, places: Int64, halves: Int64) -> tuple[Int64, int]:
    """All weights with one number of bits behind the point, as many as leave the largest at most 2^30; that number."""
    points = places[:, None] + halves
    used = columns != 0
    exponent = int((points + ONE - bit_length(columns))[used].min()) if used.any() else 0
    return round_shift(columns, points - exponent), exponent


def biases(sums: Sums, present: Int64, centre: Int64, weights: Int64) -> Int64:
    """-1/2 (m_c + mu) . W_c in the weights' unit."""
    counts = sums.counts[present, None]
    total = wide(sums.class_sums[present]) + counts * centre
    quotients = divide_each(total, counts)
    part = divide_each((total - quotients * counts) << CENTRE_BITS, counts)
    doubled = (weights * quotients).sum(axis=1) + round_shift((weights * part).sum(axis=1), CENTRE_BITS)
    return -round_shift(doubled, 1)


def scores(solution: Solution, x: NDArray[np.int8]) -> Int64:
    """W_c . x + b_c, (pictures, classes) int64; |score| < 2^53, or ABSENT for a class without pictures."""
    return wide(x) @ wide(solution.weights).T + solution.biases


def answers(solution: Solution, x: NDArray[np.int8]) -> Int64:
    """The class of each picture: the largest score, the first of equals."""
    return scores(solution, x).argmax(axis=1)
