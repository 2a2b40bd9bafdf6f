"""All that learning changes, by value: what a snapshot holds and what a state file stores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitreplay.parts.part import MAX_COUNTER, Names, PartState, need
from bitreplay.parts.written_names import as_tuple


@dataclass(frozen=True)
class State:
    """`names` are the classes by number (None: free), `parts` what each part gave, `own` the strategy's own counters.

    `notes` are counters, and `texts` texts, that files keep and the hash does not see: two states that differ in them
    are equal.
    """

    names: Names
    parts: Mapping[str, PartState]
    own: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def arrays(self) -> dict[str, NDArray]:
        """Everything as named integer arrays; names and counters apart."""
        return {f"{part}.{name}": array for part, given in self.parts.items() for name, array in given.arrays.items()}

    def counters(self) -> dict[str, int]:
        found = dict(self.own)
        for given in self.parts.values():
            found |= given.counters
        return found

    def need_room_to_count(self) -> None:
        """An experience adds less than 2^61 to any counter, so that what was learned can be loaded again."""
        highest = max([0, *self.counters().values(), *self.notes.values()])
        need(highest < MAX_COUNTER >> 1, f"A counter of this state is at its end ({highest}): begin a new state.")

    def need_counted(self) -> None:
        """Whatever a change was: a counter that reaches its end would make a file that nobody reads."""
        highest = max([0, *self.counters().values(), *self.notes.values()])
        need(highest < MAX_COUNTER, f"A counter of this state would be at its end ({highest}); nothing is changed.")

    @property
    def bytes(self) -> int:
        """Of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def hash(self) -> str:
        """sha256 of all of it: equal states have equal hashes, on every machine."""
        text = f"({as_tuple(self.names)}, {sorted(self.counters().items())})"
        digest = hashlib.sha256(text.encode())
        for name, values in sorted(self.arrays().items()):
            little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
            digest.update(f"{name} {little.dtype.str} {little.shape}".encode())
            digest.update(little.reshape(-1).view(np.uint8).data)
        return digest.hexdigest()
