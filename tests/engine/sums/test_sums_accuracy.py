"""The discriminant in integers beside float64, on numbers that nearly depend on each other."""

from __future__ import annotations

import numpy as np
import pytest

from bitreplay.engine.sums import Sums
from tests.engine.sums.steps import answers, solve

D, CLASSES, PICTURES, ASKED = 1024, 10, 6000, 4000


def pictures(rank: int, falloff: float) -> tuple[np.ndarray, np.ndarray]:
    """int8 mixtures of `rank` sources whose strengths fall to `falloff`: most of d numbers are nearly dependent."""
    rng = np.random.default_rng(7)
    mixture = rng.normal(size=(rank, D)) * np.geomspace(1, falloff, rank)[:, None]
    labels = rng.integers(0, CLASSES, PICTURES + ASKED)
    sources = rng.normal(size=(len(labels), rank)) + 0.3 * rng.normal(size=(CLASSES, rank))[labels]
    mixed = sources @ mixture
    return np.clip(np.rint(mixed * (40 / mixed.std())), -127, 127).astype(np.int8), labels


def exact_sums(x: np.ndarray, labels: np.ndarray) -> Sums:
    """Through float64, which holds these integers exactly: faster than NumPy's integers."""
    wide = x.astype(np.float64)
    onehot = np.eye(CLASSES)[labels]
    products = (wide.T @ wide)[np.tril_indices(D)].astype(np.int32)
    return Sums(np.bincount(labels).astype(np.int64), (onehot.T @ wide).astype(np.int32), products)


@pytest.mark.parametrize("rank, falloff", [(1024, 0.3), (60, 0.05)])
@pytest.mark.parametrize("shrunk", [(1, 1024), (1, 4)])
def test_weights_and_predictions_are_those_of_float64(rank, falloff, shrunk, record_property):
    x, labels = pictures(rank, falloff)
    known, asked = x[:PICTURES], x[PICTURES:]
    sums = exact_sums(known, labels[:PICTURES])
    solution = solve(sums, [D], lambda *_: shrunk)
    means = sums.class_sums / sums.counts[:, None]
    centred = known - means[labels[:PICTURES]]
    covariance = centred.T @ centred / PICTURES
    covariance += np.eye(D) * np.diagonal(covariance).mean() * shrunk[0] / shrunk[1]
    expected = np.linalg.solve(covariance, means.T).T
    biases = -0.5 * (means * expected).sum(axis=1)
    found = solution.weights * (float(PICTURES) * 2.0**solution.exponent)
    # A vector that is added to every class's weights changes no answer: compare what is left without it.
    difference = (found - found.mean(axis=0)) - (expected - expected.mean(axis=0))
    error = np.linalg.norm(difference) / np.linalg.norm(expected - expected.mean(axis=0))
    equal = float((answers(solution, asked) == (asked @ expected.T + biases).argmax(axis=1)).mean())
    spread = np.linalg.eigvalsh(covariance)
    condition = spread[-1] / spread[0]
    record_property("figure", f"sums: condition {condition:.0e}: weights off by {error:.0e}, {equal:.2%} answers equal")
    assert solution.dropped_features == 0
    assert error < 1e-5
    assert equal >= 0.998
