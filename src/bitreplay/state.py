"""All that learning changes, by value: what a snapshot holds and what a state file stores."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitreplay.classes import Name
from bitreplay.replay import Reservoir


@dataclass(frozen=True)
class State:
    """`names` are the classes by number (None: free). `tensors` are the tail's, by name. The rest are the head's
    weights and counts, the memory's reservoirs by class number, and four counters."""

    names: tuple[Name | None, ...]
    tensors: dict[str, NDArray]
    consolidated_weights: NDArray[np.int32]
    past: NDArray[np.int64]
    kept: dict[int, Reservoir]
    offered: int
    draws: int
    steps: int
    experiences: int

    @property
    def capacity(self) -> int:
        """Classes that head and tail have room for."""
        return len(self.past)

    def arrays(self) -> dict[str, NDArray]:
        """Everything as named integer arrays; names and counters apart."""
        kept = [reservoir for _, reservoir in sorted(self.kept.items())]
        numbers = np.array(sorted(self.kept), np.int32)
        found = {f"tail.{name}": values for name, values in self.tensors.items()}
        found |= {"head.consolidated_weights": self.consolidated_weights, "head.past": self.past}
        found |= {
            "memory.classes": numbers,
            "memory.seen": np.array([r.seen for r in kept], np.int64),
            "memory.sizes": np.array([len(r) for r in kept], np.int32),
        }
        if kept:
            found["memory.codes"] = np.concatenate([r.codes for r in kept])
            found["memory.origins"] = np.concatenate([r.origins for r in kept])
            found["memory.ids"] = np.concatenate([r.ids for r in kept])
        return found

    def counters(self) -> dict[str, int]:
        return {"offered": self.offered, "draws": self.draws, "steps": self.steps, "experiences": self.experiences}

    def hash(self) -> str:
        """sha256 of all of it: equal states have equal hashes, on every machine."""
        digest = hashlib.sha256(repr((self.names, sorted(self.counters().items()))).encode())
        for name, values in sorted(self.arrays().items()):
            little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
            digest.update(f"{name} {little.dtype.str} {little.shape}".encode())
            digest.update(little.tobytes())
        return digest.hexdigest()
