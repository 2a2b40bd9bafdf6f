"""Pictures of one class that belong together: taken of one thing in one go, so that one tells what the others show.

A test picture whose near-duplicate was learned tests nothing: one folder of series measured 94 % where new photographs
measured 76. So series are detected, and each is either learned or tested. Two pictures are of one series if

    their files are named alike but for the last number (cup_03_001, cup_03_002), unless most of the class are;
    they were taken within SECONDS of each other, by the camera's clock;
    they look alike: at 8x8 pixels their colours differ by ALIKE on average, or by NEIGHBOURS if they are next to each
    other in order

and so are all that are joined by such pairs. The limits were chosen on ten objects of object-sessions, eight sessions
of twelve frames each: frames of one session differ by 15 from the nearest other (95 % of them by less than 28), those
of two sessions by 36 (95 % by more than 23). On ten other objects (experiments/folder_split.py) every fifth frame as
the test gives 95.8 %, two whole sessions 59.2, and a split by series 63.7 by looks alone, 59.2 by names too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay.data.pictures.fitting import fit_pictures

SECONDS = 10
ALIKE, NEIGHBOURS = 12, 28
SIDE = 8
WINDOW = 1000
NUMBER = re.compile(r"^(.*?)[0-9]+([^0-9]*)$")


def series(paths: Sequence[Path], images: NDArray[np.uint8], taken: Sequence[float | None]) -> list[list[int]]:
    """Indices of the pictures in each series, in the order of their first.

    `images` (n, side, side, 3) and the times `taken` in seconds (None: not known) belong to `paths`, in order.
    """
    group = np.arange(len(paths))
    for one, other in [*_by_name(paths), *_by_time(taken), *_by_looks(images)]:
        low, high = sorted((group[one], group[other]))
        group[group == high] = low
    members: dict[int, list[int]] = {}
    for number, root in enumerate(group.tolist()):
        members.setdefault(root, []).append(number)
    return list(members.values())


def _by_name(paths: Sequence[Path]) -> list[tuple[int, int]]:
    """Pairs whose names differ in the last number alone, unless most of the class do: every camera counts."""
    names: dict[tuple[str, ...], list[int]] = {}
    for number, path in enumerate(paths):
        match = NUMBER.match(path.stem)
        names.setdefault(match.groups() if match else (path.stem,), []).append(number)
    if 2 * max(map(len, names.values())) > len(paths):
        return []
    return [pair for same in names.values() for pair in zip(same, same[1:], strict=False)]


def _by_time(taken: Sequence[float | None]) -> list[tuple[int, int]]:
    known = sorted((time, number) for number, time in enumerate(taken) if time is not None)
    return [(one, other) for (a, one), (b, other) in zip(known, known[1:], strict=False) if b - a <= SECONDS]


def _by_looks(images: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Pairs that look alike. Each is compared with the `WINDOW` before it, so that time is linear in their number."""
    small = fit_pictures(images, SIDE).reshape(len(images), -1).astype(np.int16)
    values, pairs = small.shape[1], list[tuple[int, int]]()
    for number in range(1, len(small)):
        first = max(0, number - WINDOW)
        apart = np.abs(small[first:number] - small[number]).sum(axis=1)
        pairs += [(first + other, number) for other in np.flatnonzero(apart <= ALIKE * values).tolist()]
        if apart[-1] <= NEIGHBOURS * values:
            pairs.append((number - 1, number))
    return pairs
