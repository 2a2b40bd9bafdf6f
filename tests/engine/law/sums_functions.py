"""Learning by sums as the vector file calls it: the oracle's and the code under test's (see functions.py)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine import discriminant
from bitreplay.engine import sums as exact_sums
from bitreplay.engine.sums import Sums
from tests.engine.law import oracle_sums


def lists(sums: Sums) -> Any:
    return [sums.counts.tolist(), sums.class_sums.tolist(), sums.products.tolist()]


def arrays(sums: Any) -> Sums:
    """The oracle's sums with the types of the law."""
    counts, class_sums, products = (np.array(part, np.int64) for part in sums)
    stored = exact_sums.width(int(counts.sum()))
    return Sums(counts, class_sums.astype(stored), products.astype(stored))


def add_pictures(numbers: int, classes: int, added: Any, taken: Any) -> Any:
    """`added` and `taken`: [pictures, labels] each."""
    sums = Sums.empty(numbers, classes)
    for (pictures, labels), sign in ((added, 1), (taken, -1)):
        x = np.array(pictures, np.int8).reshape(-1, numbers)
        exact_sums.add(sums, x, np.array(labels, np.int32), sign)
    return lists(sums)


def expected_sums(numbers: int, classes: int, added: Any, taken: Any) -> Any:
    sums = oracle_sums.add(oracle_sums.empty(numbers, classes), *added)
    return list(oracle_sums.add(sums, taken[0], taken[1], sign=-1))


def discriminant_of(sums: Any, parts: Any, lambdas: Any) -> Any:
    """`lambdas`: a fraction for each part, or none for the law's own."""
    given = iter(lambdas or [])
    shrink = (lambda *_: tuple(next(given))) if lambdas else discriminant.shrinkage
    found = discriminant.solve(arrays(sums), parts, shrink)
    return [found.weights.tolist(), found.biases.tolist(), found.exponent, found.left_out]


def expected_discriminant(sums: Any, parts: Any, lambdas: Any) -> Any:
    return list(oracle_sums.solve(sums, parts, [Fraction(*pair) for pair in lambdas] if lambdas else None))


def scores(weights: Any, biases: Any, pictures: Any) -> Any:
    solution = discriminant.Solution(np.array(weights, np.int32), np.array(biases, np.int64), 0, 1, 0)
    return discriminant.scores(solution, np.array(pictures, np.int8)).tolist()
