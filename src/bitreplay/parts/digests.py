"""Digests of all images ever learned, by class: an image that is not among them cannot be unlearned.

A digest is the first 8 bytes of the SHA-256 of an image's features x: two images with the same features are one to the
sums, and so they are here. Kept only where the setting `digests` is on, 8 bytes per image. They are a part of the
state and of its hash, because they decide what the state answers to `unlearn`; sorted, so that order does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.arguments import short_repr
from bitreplay.learning.classes import Name, in_order
from bitreplay.parts.part import ArrayState, Names, array_of, need, only
from bitreplay.sections.native import mark_of

Values = NDArray[np.uint64]


@dataclass(frozen=True)
class DigestsState(ArrayState):
    """The state of digests. Without images there are no arrays, so that a state without digests has none."""

    names: tuple[Name, ...] = ()

    @property
    def by_class(self) -> dict[Name, Values]:
        if not self.arrays:
            return {}
        ends = np.cumsum(self.arrays["sizes"])
        return dict(zip(self.names, np.split(self.arrays["values"], ends[:-1]), strict=True))

    def known(self, x: NDArray[np.int8], names: Sequence[Name]) -> int:
        """How many of these images are among them, with the same classes."""
        digests, none = self.by_class, np.zeros(0, np.uint64)
        return sum(int(np.isin(v, digests.get(name, none)).sum()) for name, v in _by_class(x, names).items())


class Digests:
    version: ClassVar[int] = 1
    counters: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.by_class: dict[Name, Values] = {}

    def add(self, x: NDArray[np.int8], names: Sequence[Name]) -> None:
        self._combine(_by_class(x, names), 1)

    def remove(self, x: NDArray[np.int8], names: Sequence[Name]) -> None:
        """Remove images. ValueError, and nothing changed, if one was not learned as that class, or less often."""
        self._combine(_by_class(x, names), -1)

    def combine(self, state: DigestsState, sign: int = 1) -> None:
        """Add the digests of another state, or remove them."""
        self._combine(state.by_class, sign)

    def _combine(self, other: Mapping[Name, Values], sign: int) -> None:
        none = np.zeros(0, np.uint64)
        changed = {
            name: np.sort(np.concatenate([self.by_class.get(name, none), values]))
            if sign > 0
            else _without(self.by_class.get(name, none), values, name)
            for name, values in other.items()
        }
        self.by_class = {name: values for name, values in (self.by_class | changed).items() if len(values)}

    def rename(self, old: Name, new: Name) -> None:
        self.by_class = {new if name == old else name: values for name, values in self.by_class.items()}

    def forget(self, name: Name) -> None:
        self.by_class.pop(name, None)

    # as a part of a state

    def state_dict(self) -> DigestsState:
        names = in_order(self.by_class)
        if not names:
            return DigestsState({})
        digests = [self.by_class[name] for name in names]
        sizes = np.array([len(values) for values in digests], np.int64)
        return DigestsState({"sizes": sizes, "values": np.concatenate(digests)}, {}, self.version, names)

    def fits(self, state: DigestsState) -> bool:
        return True

    def load_state_dict(self, state: DigestsState) -> None:
        self.by_class = state.by_class

    @classmethod
    def read(cls, content: ArrayState, names: Names) -> DigestsState:
        if not content.arrays:
            return DigestsState({})
        only(content, "digests", "sizes", "values")
        sizes = array_of(content, "digests", "sizes", np.int64, 1)
        values = array_of(content, "digests", "values", np.uint64, 1)
        known = tuple(name for name in names if name is not None)
        end = len(values)
        fits = len(sizes) == len(names) == len(known) and ((sizes > 0) & (sizes <= end)).all() and sizes.sum() == end
        need(fits, "Its digests do not fit its names.")
        state = DigestsState(dict(content.arrays), {}, cls.version, known)
        need(all((own[1:] >= own[:-1]).all() for own in state.by_class.values()), "Its digests are not in order.")
        return state


def renamed(state: DigestsState, table: Mapping[Name, Name]) -> DigestsState:
    """The state with other names; classes that get one name become one."""
    digests = Digests()
    for name, values in state.by_class.items():
        digests._combine({table.get(name, name): values}, 1)
    return digests.state_dict()


def _by_class(x: NDArray[np.int8], names: Sequence[Name]) -> dict[Name, Values]:
    digests: dict[Name, list[int]] = {}
    for features, name in zip(x, names, strict=True):
        digests.setdefault(name, []).append(mark_of(features.tobytes()))
    return {name: np.array(values, np.uint64) for name, values in digests.items()}


def _without(have: Values, removed: Values, name: Name) -> Values:
    values, counts = np.unique(have, return_counts=True)
    lost, times = np.unique(removed, return_counts=True)
    at = np.minimum(np.searchsorted(values, lost), max(len(values) - 1, 0))
    missing = len(lost) if not len(values) else int(((values[at] != lost) | (counts[at] < times)).sum())
    if missing:
        raise ValueError(f"{missing} of the pictures were never learned as {short_repr(name)}; nothing is unlearned.")
    counts[at] -= times
    return np.repeat(values, counts)
