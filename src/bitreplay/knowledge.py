"""All that learning changes, in one place: the tail's weights, the head, the memory and the names of the classes.

It can be copied (`state`), put back (`restore`), looked at (`stored`), corrected (`rename`) and taken away (`forget`).
Head and tail have room for a number of classes, which doubles when a new name does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from bitreplay.classes import Classes, Name
from bitreplay.cwr_head import CwrHead
from bitreplay.pretrained import TailLike
from bitreplay.replay import ReplayMemory
from bitreplay.reports import Stored
from bitreplay.state import State
from bitreplay.told import told, whole_number


class Knowledge:
    """`changes` counts how often anything was changed, so that what is derived from it can be kept until then."""

    def __init__(self, tail: TailLike, memory: ReplayMemory) -> None:
        self.tail, self.memory = tail, memory
        capacity, columns = tail.head_weights.shape
        self.head = CwrHead(capacity, columns - 1)
        self.classes = Classes()
        self.experiences = 0
        self.changes = 0

    @property
    def labels(self) -> list[Name]:
        """The classes that can be answered."""
        numbers = np.flatnonzero(self.head.seen)
        return [name for number in numbers if (name := self.classes.names[number]) is not None]

    def stored(self) -> list[Stored]:
        """What the memory holds of each class: how many samples of which experience, and their numbers."""
        found = []
        for number, kept in sorted(self.memory.kept.items()):
            experiences, counts = np.unique(kept.origins, return_counts=True)
            shares = dict(zip(experiences.tolist(), counts.tolist(), strict=True))
            name = self.classes.names[number]
            assert name is not None
            found.append(Stored(name, len(kept), kept.seen, shares, tuple(kept.ids.tolist()), kept.codes.nbytes))
        return found

    def rename(self, old: Name, new: Name) -> None:
        self.classes.rename(old, new)
        self.changes += 1

    def forget(self, label: Name | None = None, *, sample: int | None = None) -> bool:
        """Remove a class (stored data, the head's weights, counts), or one stored sample by its number.

        What weights have learned from a sample, and the tail's other weights from a class, stays. Returns whether it
        was stored; a label must be known.
        """
        if (label is None) == (sample is None):
            raise ValueError("Forget either a label or a sample.")
        if sample is not None:
            if (wanted := whole_number(sample)) is None:
                raise ValueError(f"A sample is named by its whole number, got {told(sample)}.")
            self.changes += 1
            return self.memory.forget_sample(wanted)
        number = self.classes.number(label)
        self.changes += 1
        self.memory.forget_class(number)
        self.head.forget(number)
        self.classes.forget(number)
        weights = self.tail.head_weights
        weights[number] = 0
        self.tail.load_head(weights, self.head.seen)
        return True

    def add_names(self, names: list[Name]) -> tuple[NDArray[np.int32], list[Name]]:
        """Class numbers, and the names among them that are new; head and tail grow if they must."""
        old = set(self.classes.known)
        self.classes.add(names)
        capacity = len(self.head.past)
        while capacity < len(self.classes):
            capacity *= 2
        self._resize(capacity)
        return self.classes.numbers(names), [name for name in self.classes.known if name not in old]

    def present(self, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many distinct samples there are of each class, new and stored."""
        counts = np.bincount(numbers, minlength=len(self.head.past)).astype(np.int64)
        for number, count in self.memory.counts().items():
            counts[number] += count
        return counts

    def state(self) -> State:
        """A copy of all of it."""
        return State(
            self.classes.names, self.tail.tensors(), self.head.consolidated_weights.copy(), self.head.past.copy(),
            dict(self.memory.kept), self.memory.offered, self.memory.draws, self.tail.steps, self.experiences,
        )  # fmt: skip

    def restore(self, state: State) -> None:
        """Go back to a state."""
        self._resize(state.capacity)
        self.tail.restore(state.tensors, state.steps)
        self.head.restore(state.consolidated_weights, state.past)
        self.memory.restore(state.kept, state.offered, state.draws)
        self.classes.restore(state.names)
        self.experiences = state.experiences
        self.changes += 1

    def state_hash(self) -> str:
        """sha256 of everything that learning changes."""
        return self.state().hash()

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Whatever stops the block, even Ctrl-C, leaves everything as it was before."""
        before = self.state()
        try:
            yield
        except BaseException:
            self.restore(before)
            raise
        self.changes += 1

    def _resize(self, capacity: int) -> None:
        if capacity != len(self.head.past):
            self.tail = self.tail.resized(capacity)
            self.head.resize(capacity)
