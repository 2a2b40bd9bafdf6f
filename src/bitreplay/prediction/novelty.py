"""How strange an image is: the distance of its latent to the nearest stored one, in bits.

    distance(x, y) = sum over bit planes j of 2^j popcount(x_j xor y_j)

"Unknown" are pictures further away than the stored samples are from one another: `limit` is the distance that at most a
chosen share of them exceed, each measured against all others but itself. Stored latents are not trained, so they are a
fair sample, while the head's probabilities on them are not. docs/learner.md has figures.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

MAX_PROBES = 1000
WORDS_AT_ONCE = 1 << 22


def nearest(latents: NDArray[np.uint64], stored: Iterable[NDArray[np.uint64]], planes: int) -> NDArray[np.int64]:
    """Distances from latents to the nearest stored one, part by part to save memory."""
    flat, distances = _flat(latents), np.full(len(latents), np.iinfo(np.int64).max)
    for part in stored:
        if len(part):
            distances = np.minimum(distances, _between(flat, _flat(part), planes, latents.shape[-1]).min(axis=1))
    return distances


def stored_distances(stored: list[NDArray[np.uint64]], planes: int) -> NDArray[np.int64]:
    """Distances from stored samples to the nearest other one; of a large memory, from an even selection."""
    total = sum(len(part) for part in stored)
    probes = np.unique(np.linspace(0, total - 1, min(total, MAX_PROBES)).astype(np.int64))
    ends = np.cumsum([len(part) for part in stored])
    distances = np.empty(len(probes), np.int64)
    for k, probe in enumerate(probes):
        owner = int(np.searchsorted(ends, probe, side="right"))
        at = int(probe - (ends[owner] - len(stored[owner])))
        rest = [np.delete(part, at, axis=0) if number == owner else part for number, part in enumerate(stored)]
        distances[k] = nearest(stored[owner][at : at + 1], rest, planes)[0]
    return distances


def limit(distances: NDArray[np.int64], share: Fraction) -> int:
    """The smallest distance that at most `share` of these exceed."""
    return int(np.sort(distances)[len(distances) - 1 - int(share * len(distances))])


def _flat(latents: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return latents.reshape(len(latents), -1)


def _between(one: NDArray[np.uint64], other: NDArray[np.uint64], planes: int, words: int) -> NDArray[np.int64]:
    """Rows of `one` against rows of `other`; a pixel has `words` words, plane after plane."""
    weights = np.left_shift(1, np.arange(words) * planes // words, dtype=np.int64)
    weights = np.tile(weights, one.shape[1] // words)
    distances = np.empty((len(one), len(other)), np.int64)
    at_once = max(1, WORDS_AT_ONCE // max(1, other.size))
    for start in range(0, len(one), at_once):
        differing = np.bitwise_count(one[start : start + at_once, None] ^ other[None])
        distances[start : start + at_once] = differing @ weights
    return distances
