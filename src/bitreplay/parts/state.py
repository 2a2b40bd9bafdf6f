"""All that learning changes, by value: what a snapshot holds and what a state file stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitreplay.parts.part import MAX_COUNTER, Names, PartState, need
from bitreplay.sections import Value, learned_hash


@dataclass(frozen=True)
class State:
    """`names` are the classes by number (None: free), `parts` the state of each part.

    `strategy_counters` are the counters of the strategy itself. Files keep the counters in `notes` and the arrays of
    uint64 in `note_arrays` too, but the hash leaves them out: states that differ in them alone have one hash.
    """

    names: Names
    parts: Mapping[str, PartState]
    strategy_counters: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    note_arrays: Mapping[str, NDArray[np.uint64]] = field(default_factory=dict)

    def arrays(self) -> dict[str, NDArray]:
        """All named integer arrays, without names and counters."""
        return {f"{part}.{name}": array for part, state in self.parts.items() for name, array in state.arrays.items()}

    def counters(self) -> dict[str, int]:
        counters = dict(self.strategy_counters)
        for part in self.parts.values():
            counters |= part.counters
        return counters

    def need_room_to_count(self) -> None:
        """Raise ValueError if a counter is too high for one more experience, which adds less than 2^61 to it."""
        highest = self._highest_counter()
        need(highest < MAX_COUNTER >> 1, f"A counter of this state is at its limit ({highest}): begin a new state.")

    def need_counted(self) -> None:
        """Raise ValueError if a counter is above its limit: no program would read such a file."""
        highest = self._highest_counter()
        need(highest < MAX_COUNTER, f"A counter of this state would pass its limit ({highest}); nothing has changed.")

    def _highest_counter(self) -> int:
        return max([0, *self.counters().values(), *self.notes.values()])

    @property
    def bytes(self) -> int:
        """The size of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def learned(self) -> dict[str, Value]:
        """The sections of a file that the hash covers."""
        sections: dict[str, Value] = {"learned/classes": self.names}
        sections |= {f"learned/counters/{name}": np.int64(value) for name, value in self.counters().items()}
        return sections | {f"learned/parts/{name}": array for name, array in self.arrays().items()}

    def hash(self) -> str:
        """A sha256 of the state: equal states have equal hashes, on every machine."""
        return learned_hash(self.learned())
