"""Divide the pictures of a class for learning and testing: series stay together (series.py), the last are the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Split:
    """How many pictures of one class are learned and tested, and in how many series they are."""

    name: str
    learned: int
    tested: int
    series: int


def choose_test(groups: Sequence[Sequence[int]], test_every: int) -> set[int]:
    """Indices of the test pictures: groups from the end, until they are one picture in `test_every`.

    A group that would make them more than half of all pictures is skipped.

    >>> choose_test([[0], [1], [2], [3], [4]], 5), choose_test([[0, 1], [2, 3, 4, 5], [6]], 5)
    ({4}, {6})
    >>> choose_test([[0, 1, 2], [3, 4, 5]], 5), choose_test([[0, 1, 2, 3, 4]], 5)
    ({3, 4, 5}, set())
    """
    total = sum(map(len, groups))
    chosen: set[int] = set()
    for group in reversed(groups):
        if len(chosen) < total // test_every and 2 * (len(chosen) + len(group)) <= total:
            chosen |= set(group)
    return chosen


def describe(splits: Sequence[Split]) -> list[str]:
    """Sentences: how all were divided, and which classes are not tested."""
    learned, tested, series = (sum(getattr(split, key) for split in splits) for key in ("learned", "tested", "series"))
    sentences = [
        f"Of {learned + tested} pictures in {series} series (near-duplicates by name, time or looks), {learned} are "
        f"learned and {tested} are the test; no series is in both."
    ]
    for split in splits:
        if not split.tested:
            has = f"{split.learned} picture{'s' if split.learned != 1 else ''} in {split.series} series"
            remedy = f"take some at another time, or put some into test/{split.name}"
            sentences.append(f"{split.name} is not tested: it has {has}; {remedy}.")
    return sentences
