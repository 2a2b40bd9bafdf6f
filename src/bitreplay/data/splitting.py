"""A class's pictures divided for learning and testing: series stay whole (series.py), the last ones are the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Split:
    """How the pictures of one class were divided: how many are learned and tested, in how many series."""

    name: str
    learned: int
    tested: int
    series: int


def divided(groups: Sequence[Sequence[int]], test_every: int) -> set[int]:
    """The numbers of test pictures: whole groups from the end on, until they are one in `test_every`.

    A group that would make them more than half of all is passed over.

    >>> divided([[0], [1], [2], [3], [4]], 5), divided([[0, 1], [2, 3, 4, 5], [6]], 5)
    ({4}, {6})
    >>> divided([[0, 1, 2], [3, 4, 5]], 5), divided([[0, 1, 2, 3, 4]], 5)
    ({3, 4, 5}, set())
    """
    total = sum(map(len, groups))
    chosen: set[int] = set()
    for group in reversed(groups):
        if len(chosen) < total // test_every and 2 * (len(chosen) + len(group)) <= total:
            chosen |= set(group)
    return chosen


def told(splits: Sequence[Split]) -> list[str]:
    """Sentences: how all were divided, and which classes are not tested."""
    learned, tested, found = (sum(getattr(split, word) for split in splits) for word in ("learned", "tested", "series"))
    said = [
        f"Of {learned + tested} pictures in {found} series (near-duplicates by name, time or looks) {learned} are "
        f"learned and {tested} are the test; no series is in both."
    ]
    for split in splits:
        if not split.tested:
            has = f"{split.learned} picture{'s' if split.learned != 1 else ''} in {split.series} series"
            remedy = f"take some at another time, or put them into test/{split.name}"
            said.append(f"{split.name} is not tested: it has {has}; {remedy}.")
    return said
