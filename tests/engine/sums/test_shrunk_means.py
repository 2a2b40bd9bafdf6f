"""Shrunk means against exact fractions, and at the ends of their accumulators."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from bitreplay.engine import discriminant
from bitreplay.engine.discriminant import ABSENT, Solution
from bitreplay.engine.shrinkage import Shrinkage
from bitreplay.engine.shrunk_means import shrunk_means
from bitreplay.engine.sums import MAX_FEATURES, Sums, add, width


def random_sums(pictures: int, n_features: int, classes: int, seed: int) -> Sums:
    rng = np.random.default_rng(seed)
    sums = Sums.empty(n_features, classes)
    labels = rng.integers(0, classes, pictures)
    labels[labels == classes - 1] = 0  # the last class has no pictures
    add(sums, rng.integers(-127, 128, (pictures, n_features)).astype(np.int8), labels)
    return sums


def nearest(value: Fraction) -> int:
    """Ties away from zero."""
    return floor(abs(value) + Fraction(1, 2)) * (1 if value >= 0 else -1)


def exact(sums: Sums, solution: Solution, c: int, k: int) -> tuple[list[Fraction], Fraction]:
    """W' and b' of a class, in the solution's unit."""
    n, d = int(sums.counts[c]), sums.n_features
    middle = [nearest(Fraction(int(total), sums.pictures)) for total in sums.class_sums.sum(axis=0)]
    factor = Fraction(n, n + k)
    mean = [middle[i] + factor * (Fraction(int(sums.class_sums[c, i]), n) - middle[i]) for i in range(d)]
    weights = [factor * int(solution.weights[c, i]) for i in range(d)]
    return weights, -sum(((mean[i] + middle[i]) * weights[i] for i in range(d)), Fraction(0)) / 2


@pytest.mark.parametrize("k", [1, 4, 8])
@pytest.mark.parametrize("seed", range(12))
def test_they_are_the_discriminant_of_means_drawn_to_the_middle(seed, k):
    pictures, n_features, classes = [(4, 1, 2), (9, 3, 4), (40, 7, 3), (300, 5, 6)][seed % 4]
    sums = random_sums(pictures, n_features, classes, seed)
    solution = discriminant.solve(sums, [n_features])
    found = shrunk_means(sums, solution, Shrinkage(pictures=k))
    for c in np.flatnonzero(sums.counts).tolist():
        weights, bias = exact(sums, solution, c, k)
        assert all(abs(int(w) - e) <= Fraction(1, 2) for w, e in zip(found.weights[c], weights, strict=True))
        # Means are rounded to 16 bits behind the point, by the solution and here.
        size = int(np.abs(solution.weights[c].astype(np.int64)).sum())
        assert abs(int(found.biases[c]) - bias) <= Fraction(size, 2**17) + 4
    assert found.biases[-1] == ABSENT and not found.weights[-1].any()
    assert (found.exponent, found.pictures) == (solution.exponent, solution.pictures)


@pytest.mark.parametrize("k", [1, 4, 8])
@pytest.mark.parametrize("count", [1, 2**31 - 2])
def test_no_sum_overflows_at_its_extreme(count, k):
    """All weights and all numbers as large as they can be, and as many."""
    d = MAX_FEATURES
    counts = np.array([count, 1], np.int64)
    stored = width(int(counts.sum()))
    signs = np.array([[1], [-1]])
    class_sums = (127 * signs * counts[:, None] * np.ones((1, d), np.int64)).astype(stored)
    sums = Sums(counts, class_sums, np.zeros(d * (d + 1) // 2, stored))
    weights = np.full((2, d), 1 << 30, np.int64) * signs
    solution = Solution(weights.astype(np.int32), np.array([-(1 << 53), 1 << 53]), 0, count + 1, 0)
    found = shrunk_means(sums, solution, Shrinkage(pictures=k))
    middle = nearest(Fraction(127 * (count - 1), count + 1))
    for c in range(2):
        n, bias = int(counts[c]), int([-(1 << 53), 1 << 53][c])
        apart = Fraction((127 * int(signs[c, 0]) - middle) * int(weights[c, 0]) * d)
        factor = Fraction(n, n + k)
        assert abs(int(found.biases[c]) - factor * (bias + (1 - factor) * apart / 2)) <= 4
        assert abs(int(found.weights[c, 0]) - factor * int(weights[c, 0])) <= Fraction(1, 2)
