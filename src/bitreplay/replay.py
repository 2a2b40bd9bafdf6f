"""Replay memory: packed level codes, a reservoir for each class.

In: level codes (n, height, width, words) uint64 and their class numbers. Out: minibatches drawn with replacement.
Vitter's algorithm R per class, with the number of samples ever seen of the class: sample k (counting from 1) of a class
with N slots takes a free slot, or else replaces slot j = floor(u k / 2^32), u 32 random bits, if j < N. Every sample
ever seen is kept with the same probability, so each experience's share follows its size (paper, Algorithm 1,
read for its intent: see docs/method.md). Random numbers come from the counter generator: state is seed and counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.counter import key, random_bits

RESERVOIR, DRAW = 0x5EED0001, 0x5EED0002


class ReplayMemory:
    """`per_class` slots for each class; a class's slots are allocated when the class is first seen."""

    def __init__(self, per_class: int, sample_shape: tuple[int, ...], seed: int = 0) -> None:
        self.per_class, self.sample_shape, self.seed = per_class, sample_shape, seed
        self.codes: NDArray[np.uint64] = np.zeros((0, *sample_shape), np.uint64)
        self.labels: NDArray[np.int32] = np.zeros(0, np.int32)
        self.origins: NDArray[np.int32] = np.zeros(0, np.int32)
        self.seen: dict[int, int] = {}
        self.draws = 0

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def bytes(self) -> int:
        """Bytes of the stored codes."""
        return self.codes.nbytes

    def counts(self) -> dict[int, int]:
        """Stored samples of each class."""
        classes, counts = np.unique(self.labels, return_counts=True)
        return {int(c): int(n) for c, n in zip(classes, counts, strict=True)}

    def update(self, codes: NDArray[np.uint64], labels: NDArray, experience: int) -> None:
        """Offer the samples of an experience, in order."""
        assert codes.shape[1:] == self.sample_shape and codes.dtype == np.uint64, (codes.shape, codes.dtype)
        for c in np.unique(labels):
            members = np.flatnonzero(labels == c)
            slots = list(np.flatnonzero(self.labels == c))
            chosen = self._choose(int(c), len(members), len(slots))
            self._place(codes[members], int(c), slots, chosen, experience)

    def _choose(self, c: int, offered: int, held: int) -> dict[int, int]:
        """For each slot that changes, the offered sample that ends up in it."""
        before = self.seen.get(c, 0)
        numbers = np.arange(before, before + offered, dtype=np.uint32)
        random = random_bits(key(self.seed, c, RESERVOIR), numbers).astype(np.uint64)
        chosen: dict[int, int] = {}
        for offer in range(offered):
            if held < self.per_class:
                chosen[held] = offer
                held += 1
            else:
                slot = int(random[offer] * np.uint64(before + offer + 1) >> np.uint64(32))
                if slot < self.per_class:
                    chosen[slot] = offer
        self.seen[c] = before + offered
        return chosen

    def _place(self, codes: NDArray, c: int, slots: list, chosen: dict[int, int], experience: int) -> None:
        added = [offer for slot, offer in sorted(chosen.items()) if slot >= len(slots)]
        for slot, offer in chosen.items():
            if slot < len(slots):
                self.codes[slots[slot]] = codes[offer]
                self.origins[slots[slot]] = experience
        if added:
            self.codes = np.concatenate([self.codes, codes[added]])
            self.labels = np.concatenate([self.labels, np.full(len(added), c, np.int32)])
            self.origins = np.concatenate([self.origins, np.full(len(added), experience, np.int32)])

    def sample(self, count: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """`count` stored samples: a fresh permutation of the memory where it is large enough, else with replacement."""
        random = random_bits(key(self.seed, self.draws, DRAW), np.arange(max(count, len(self)), dtype=np.uint32))
        self.draws += 1
        if count <= len(self):
            picked = np.argsort(random[: len(self)], kind="stable")[:count]
        else:
            picked = (random[:count].astype(np.uint64) * np.uint64(len(self)) >> np.uint64(32)).astype(np.int64)
        return self.codes[picked], self.labels[picked]
