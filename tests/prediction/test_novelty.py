from fractions import Fraction

import numpy as np
import pytest

from bitreplay.engine.arithmetic.packing import unpack
from bitreplay.prediction.novelty import limit, nearest, stored_distances


def latents(count: int, planes: int = 1, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 1 << 64, (count, 2, 3, 2 * planes), dtype=np.uint64, endpoint=False)


def oracle(x: np.ndarray, y: np.ndarray, planes: int) -> int:
    """Element by element: the planes' bits as numbers of a pixel, their exclusive or summed."""
    total = 0
    for one, other in zip(x.reshape(-1, 2 * planes), y.reshape(-1, 2 * planes), strict=True):
        for plane in range(planes):
            words = slice(2 * plane, 2 * plane + 2)
            total += int((unpack(one[words], 128) != unpack(other[words], 128)).sum()) << plane
    return total


@pytest.mark.parametrize("planes", [1, 2, 4])
def test_distance_counts_differing_bits_by_their_planes(planes):
    some, parts = latents(4, planes), [latents(3, planes, 1), latents(0, planes), latents(5, planes, 2)]
    everything = np.concatenate(parts)
    expected = [min(oracle(x, y, planes) for y in everything) for x in some]
    assert nearest(some, parts, planes).tolist() == expected


def test_a_stored_sample_is_not_measured_against_itself():
    parts = [latents(6), latents(4, seed=1)]
    everything = np.concatenate(parts)
    expected = [
        min(oracle(everything[i], everything[j], 1) for j in range(10) if j != i) for i in range(len(everything))
    ]
    assert stored_distances(parts, 1).tolist() == expected
    assert nearest(everything, parts, 1).tolist() == [0] * 10


def test_a_large_memory_is_probed_evenly(monkeypatch):
    parts = [latents(30), latents(30, seed=1)]
    whole = stored_distances(parts, 1)
    monkeypatch.setattr("bitreplay.prediction.novelty.MAX_PROBES", 7)
    assert stored_distances(parts, 1).tolist() == whole[[0, 9, 19, 29, 39, 49, 59]].tolist()


@pytest.mark.parametrize("at_once", [1, 100, 1 << 22])
def test_how_many_are_measured_at_once_does_not_matter(monkeypatch, at_once):
    monkeypatch.setattr("bitreplay.prediction.novelty.WORDS_AT_ONCE", at_once)
    expected = [min(oracle(x, y, 1) for y in latents(5, seed=3)) for x in latents(6)]
    assert nearest(latents(6), [latents(5, seed=3)], 1).tolist() == expected


def test_at_most_the_share_lies_beyond_the_limit():
    found = np.random.default_rng(1).integers(0, 50, 333)
    for share in (Fraction(0), Fraction(1, 20), Fraction(1, 2), Fraction(99, 100)):
        most = limit(found, share)
        assert (found > most).sum() <= share * 333
        lower = np.unique(found[found < most])
        assert len(lower) == 0 or (found > lower[-1]).sum() > share * 333
