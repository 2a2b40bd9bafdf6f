"""What will be taken for what, from the sums alone, before a mistake is made.

Under the discriminant's own law, pictures of one class are spread about its mean as the covariance says, so a picture
of class a has the score of b above that of a with the probability

    Phi(-1/2 sqrt(D2_ab / T)),      D2_ab = |m'_a - m'_b|^2 under the covariance

T is the temperature of engine/unseen.py: scores of pictures that were not learned are that much less sure. It looks at
two classes at a time; docs/unknown.md compares it with confusions that were counted. In float64: a report, no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitreplay.classes import Name
from bitreplay.engine.shrunk_means import PICTURES
from bitreplay.engine.sums import Sums


class Pair(NamedTuple):
    """Two classes and the share of either's pictures that is expected to be taken for the other."""

    one: Name
    other: Name
    share: float


def squared_distances(sums: Sums, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """D2 of all pairs of classes; weights (classes, numbers) are A^-1 (m'_c - mu)."""
    middle = sums.class_sums.sum(axis=0) / sums.pictures
    away = (sums.class_sums / sums.counts[:, None] - middle) * (sums.counts / (sums.counts + PICTURES))[:, None]
    products = away @ weights.T
    own = np.diagonal(products)
    return own[:, None] + own - products - products.T


def pairs(labels: Sequence[Name], squared: NDArray[np.float64], temperature: float) -> list[Pair]:
    """All pairs of classes, the most confused first; of equal ones in the order of the classes."""
    found = [
        Pair(labels[a], labels[b], erfc(sqrt(max(squared[a, b], 0) / temperature) / sqrt(8)) / 2)
        for a in range(len(labels))
        for b in range(a + 1, len(labels))
    ]
    return sorted(found, key=lambda pair: -pair.share)
