"""What will be taken for what, from the sums alone, before a mistake is made.

Under the discriminant's own law, pictures of one class are spread about its mean as the covariance says, so a picture
of class a has the score of b above that of a with the probability

    Phi(-1/2 sqrt(D2_ab / T)),      D2_ab = |m'_a - m'_b|^2 under the covariance

T is the temperature of engine/ood.py: scores of pictures that were not learned are that much less sure. It looks at
two classes at a time; docs/unknown.md compares it with confusions that were counted. In float64: a report, no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.shrinkage import Shrinkage
from bitreplay.engine.sums import Sums
from bitreplay.learning.classes import Name

MAX_PAIRS = 10_000  # those of 141 classes
COMPARED_AT_ONCE = 1 << 20


class Pair(NamedTuple):
    """Two classes and the share of either's pictures that is expected to be taken for the other."""

    one: Name
    other: Name
    share: float


def away_from(middle: NDArray, sums: Sums, shrinkage: Shrinkage) -> NDArray[np.float64]:
    """m'_c - mu in float64 (classes, features), for any middle mu."""
    counts = sums.counts[:, None]
    return (sums.class_sums / counts - middle) * (counts / (counts + shrinkage.pictures))


def pairs(
    labels: Sequence[Name], sums: Sums, weights: NDArray[np.float64], temperature: float, shrinkage: Shrinkage,
    limit: int,
) -> list[Pair]:  # fmt: skip
    """The `limit` most confused pairs of classes, the most confused first; of equal ones in the order of the classes.

    weights (classes, features) are A^-1 (m'_c - mu). A few classes at a time are compared with all others, and of these
    no more are kept: memory follows `limit`, not the number of pairs.
    """
    away = away_from(sums.class_sums.sum(axis=0) / sums.pictures, sums, shrinkage)
    self_products = np.einsum("cd,cd->c", away, weights)
    classes = len(labels)
    at_once = max(1, COMPARED_AT_ONCE // classes)
    far, ones, others = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64)
    for start in range(0, classes, at_once):
        end = min(start + at_once, classes)
        squared = (
            self_products[start:end, None] + self_products - away[start:end] @ weights.T - weights[start:end] @ away.T
        )
        farthest = far.max() if len(far) >= limit else np.inf
        one, other = np.nonzero((squared <= farthest) & (np.arange(classes) > np.arange(start, end)[:, None]))
        far = np.concatenate([far, squared[one, other]])
        ones, others = np.concatenate([ones, one + start]), np.concatenate([others, other])
        if len(far) > limit:
            chosen = np.sort(np.argsort(far, kind="stable")[:limit])  # in the order of the classes again
            far, ones, others = far[chosen], ones[chosen], others[chosen]
    result = [
        Pair(labels[one], labels[other], erfc(sqrt(max(distance, 0) / temperature) / sqrt(8)) / 2)
        for distance, one, other in zip(far.tolist(), ones.tolist(), others.tolist(), strict=True)
    ]
    return sorted(result, key=lambda pair: -pair.share)
