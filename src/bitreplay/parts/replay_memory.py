"""Replay memory: latents, in one reservoir per class.

In: latents (n, height, width, words) uint64 and their class numbers. Out: minibatches.
Vitter's algorithm R per class, with the number of samples ever seen of the class (engine/method.py). Every sample ever
seen is kept with the same probability, so each experience's share follows its size (paper, Algorithm 1, read for its
intent: see docs/method.md). Random numbers come from the counter generator: state is seed and counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.arguments import as_integer, short_repr
from bitreplay.engine import native_method
from bitreplay.learning.reports import Stored
from bitreplay.parts.part import MAX_COUNTER, ArrayState, Names, array_of, between, need, only

LatentsOf = Callable[[NDArray[np.int64]], NDArray[np.uint64]]


@dataclass(frozen=True)
class Reservoir:
    """What is kept of one class. Its arrays are never changed, so that a copy of the memory's table is a snapshot.

    `origins` are the experiences that samples came from, `ids` their numbers in the order of arrival.
    """

    latents: NDArray[np.uint64]
    origins: NDArray[np.int32]
    ids: NDArray[np.int64]
    seen: int

    def __len__(self) -> int:
        return len(self.ids)

    def with_samples(
        self, slots: list[int], latents: NDArray, ids: NDArray[np.int64], experience: int, offered: int
    ) -> Reservoir:
        """The samples in their slots, new ones behind the last or others' place; `offered` more have been seen."""
        size = max([len(self), *(slot + 1 for slot in slots)])
        new = Reservoir(np.empty((size, *latents.shape[1:]), np.uint64), np.empty(size, np.int32),
                        np.empty(size, np.int64), self.seen + offered)  # fmt: skip
        for array, before in ((new.latents, self.latents), (new.origins, self.origins), (new.ids, self.ids)):
            array[: len(self)] = before
        new.latents[slots], new.origins[slots], new.ids[slots] = latents, experience, ids
        return new

    def without(self, sample: int) -> Reservoir:
        """The slot becomes free; the class's next sample takes it."""
        stay = self.ids != sample
        return replace(self, latents=self.latents[stay], origins=self.origins[stay], ids=self.ids[stay])


@dataclass(frozen=True)
class ReplayMemoryState:
    """The state of a memory: reservoirs by class number, how many samples were offered, how many draws were made."""

    reservoirs: Mapping[int, Reservoir]
    offered: int
    draws: int

    @property
    def counters(self) -> dict[str, int]:
        return {"offered": self.offered, "draws": self.draws}

    @property
    def arrays(self) -> dict[str, NDArray]:
        reservoirs = [reservoir for _, reservoir in sorted(self.reservoirs.items())]
        arrays: dict[str, NDArray] = {
            "classes": np.array(sorted(self.reservoirs), np.int32),
            "seen": np.array([r.seen for r in reservoirs], np.int64),
            "sizes": np.array([len(r) for r in reservoirs], np.int32),
        }
        if reservoirs:
            arrays["codes"] = np.concatenate([r.latents for r in reservoirs])
            arrays["origins"] = np.concatenate([r.origins for r in reservoirs])
            arrays["ids"] = np.concatenate([r.ids for r in reservoirs])
        return arrays

    def stored(self, names: Names) -> list[Stored]:
        """The stored samples of each class: how many of which experience, and their numbers."""
        classes = []
        for number, reservoir in sorted(self.reservoirs.items()):
            experiences, counts = np.unique(reservoir.origins, return_counts=True)
            shares = dict(zip(experiences.tolist(), counts.tolist(), strict=True))
            name = names[number]
            assert name is not None
            classes.append(
                Stored(
                    name,
                    len(reservoir),
                    reservoir.seen,
                    shares,
                    tuple(reservoir.ids.tolist()),
                    reservoir.latents.nbytes,
                )
            )
        return classes


class ReplayMemory:
    """A part (part.py): `memory_per_class` slots for each class, allocated when they are first needed."""

    version: ClassVar[int] = 1
    counters: ClassVar[tuple[str, ...]] = ("offered", "draws")

    def __init__(self, memory_per_class: int, sample_shape: tuple[int, ...], seed: int = 0) -> None:
        slots = as_integer(memory_per_class)
        if slots is None or slots < 0:
            raise ValueError(f"memory_per_class must be an integer from 0, got {short_repr(memory_per_class)}.")
        self.memory_per_class, self.sample_shape, self.seed = slots, tuple(sample_shape), seed
        self.reservoirs: dict[int, Reservoir] = {}
        self.offered = 0
        self.draws = 0

    def __len__(self) -> int:
        return sum(len(reservoir) for reservoir in self.reservoirs.values())

    @property
    def bytes(self) -> int:
        """The size of the stored latents."""
        return sum(reservoir.latents.nbytes for reservoir in self.reservoirs.values())

    @property
    def latents(self) -> NDArray[np.uint64]:
        """All stored latents, class by class."""
        return np.concatenate([np.zeros((0, *self.sample_shape), np.uint64), *(r.latents for _, r in self._sorted())])

    def stored_latents(self) -> list[NDArray[np.uint64]]:
        """Stored latents, one array per class."""
        return [reservoir.latents for _, reservoir in self._sorted()]

    @property
    def labels(self) -> NDArray[np.int32]:
        """The class number of each stored sample."""
        return np.array([c for c, r in self._sorted() for _ in range(len(r))], np.int32)

    @property
    def origins(self) -> NDArray[np.int32]:
        """The experience of each stored sample."""
        return np.concatenate([np.zeros(0, np.int32), *(r.origins for _, r in self._sorted())])

    @property
    def seen(self) -> dict[int, int]:
        """The number of samples that were offered, by class."""
        return {c: r.seen for c, r in self._sorted()}

    def counts(self) -> dict[int, int]:
        """The number of stored samples, by class."""
        return {c: len(r) for c, r in self._sorted() if len(r)}

    def update(self, latents: NDArray[np.uint64] | LatentsOf, labels: Any, experience: int) -> None:
        """Offer the samples of an experience, in order. Nothing changes until all of them have their slots.

        `latents` may be a function of sample numbers: it is asked, once, for those that get a place.
        """
        labels = np.asarray(labels)
        if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.min(initial=0) < 0:
            raise ValueError(f"Labels must be class numbers from 0, one per sample, got {labels.dtype} {labels.shape}.")
        if not isinstance(latents, np.ndarray) and not callable(latents):
            raise ValueError(f"Latents must be an array or a function of sample numbers, got {type(latents).__name__}.")
        if isinstance(latents, np.ndarray) and len(latents) != len(labels):
            raise ValueError(f"There must be as many labels as latents, got {len(labels)} and {len(latents)}.")
        members = {int(c): np.flatnonzero(labels == c) for c in np.unique(labels)}
        chosen = {c: self._choose(c, len(rows)) for c, rows in members.items()}
        placed = np.array([members[c][offer] for c in members for offer in chosen[c].values()], np.int64)
        picked = latents[placed] if isinstance(latents, np.ndarray) else latents(placed)
        if picked.shape != (len(placed), *self.sample_shape) or picked.dtype != np.uint64:
            raise ValueError(
                f"Latents must be uint64 of shape (n, *{self.sample_shape}), got {picked.dtype} {picked.shape}."
            )
        changed, start = {}, 0
        for c, rows in members.items():
            end = start + len(chosen[c])
            slots, indices = list(chosen[c]), self.offered + placed[start:end]
            changed[c] = self._reservoir(c).with_samples(slots, picked[start:end], indices, experience, len(rows))
            start = end
        self.reservoirs = self.reservoirs | changed
        self.offered += len(labels)

    def _reservoir(self, c: int) -> Reservoir:
        none = np.zeros((0, *self.sample_shape), np.uint64)
        return self.reservoirs.get(c, Reservoir(none, np.zeros(0, np.int32), np.zeros(0, np.int64), 0))

    def _choose(self, c: int, offered: int) -> dict[int, int]:
        """For each slot that changes, the offered sample that ends up in it."""
        held, seen = len(self._reservoir(c)), self._reservoir(c).seen
        slots = native_method.slots(self.seed, c, seen, held, self.memory_per_class, offered)
        return {int(slots[offer]): int(offer) for offer in np.flatnonzero(slots >= 0)}

    def sample(self, count: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """`count` stored samples, all different if there are that many, else drawn with replacement.

        The time does not depend on how many are stored, but for a search over the classes.
        """
        size = as_integer(count)
        if size is None or size < 0 or len(self) == 0:
            raise ValueError(f"{short_repr(count)} samples cannot be drawn: the memory holds {len(self)}.")
        classes, sizes = zip(*self.counts().items(), strict=True)
        ends = np.cumsum(sizes)
        picked = native_method.drawn(self.seed, self.draws, int(ends[-1]), count)
        self.draws += 1
        owners = np.searchsorted(ends, picked, side="right")
        latents = np.empty((count, *self.sample_shape), np.uint64)
        for owner in np.unique(owners):
            owned = owners == owner
            latents[owned] = self.reservoirs[classes[owner]].latents[picked[owned] - (ends[owner] - sizes[owner])]
        return latents, np.array(classes, np.int32)[owners]

    def forget_class(self, c: int) -> None:
        self.reservoirs = {other: reservoir for other, reservoir in self.reservoirs.items() if other != c}

    def forget_sample(self, sample: int) -> bool:
        """Remove a sample; returns whether it was stored."""
        owners = [c for c, reservoir in self.reservoirs.items() if sample in reservoir.ids]
        self.reservoirs = self.reservoirs | {c: self.reservoirs[c].without(sample) for c in owners}
        return bool(owners)

    @classmethod
    def read(cls, content: ArrayState, names: Names) -> ReplayMemoryState:
        only(content, "memory", "classes", "seen", "sizes", "codes", "origins", "ids")
        state = ReplayMemoryState(_reservoirs(content), content.counters["offered"], content.counters["draws"])
        for reservoir in state.reservoirs.values():
            distinct_ids = len(set(reservoir.ids.tolist())) == len(reservoir)
            need(
                between(reservoir.ids, 0, state.offered) and distinct_ids,
                "Its memory holds samples that were never seen.",
            )
        named = all(0 <= c < len(names) and names[c] is not None for c in state.reservoirs)
        need(named, "Its memory holds a class without a name.")
        return state

    def state_dict(self) -> ReplayMemoryState:
        return ReplayMemoryState(self.reservoirs, self.offered, self.draws)

    def fits(self, state: ReplayMemoryState) -> bool:
        return all(
            kept.latents.shape[1:] == self.sample_shape and len(kept) <= self.memory_per_class
            for kept in state.reservoirs.values()
        )

    def load_state_dict(self, state: ReplayMemoryState) -> None:
        """Go back to this state."""
        self.reservoirs, self.offered, self.draws = dict(state.reservoirs), state.offered, state.draws

    def _sorted(self) -> list[tuple[int, Reservoir]]:
        return sorted(self.reservoirs.items())


def _reservoirs(content: ArrayState) -> dict[int, Reservoir]:
    classes = array_of(content, "memory", "classes", np.int32, 1)
    seen = array_of(content, "memory", "seen", np.int64, 1)
    sizes = array_of(content, "memory", "sizes", np.int32, 1)
    alone = len(set(classes.tolist()))
    need(len(classes) == len(seen) == len(sizes) == alone, "Its memory's tables differ in length.")
    if not len(classes):
        return {}
    latents = array_of(content, "memory", "codes", np.uint64, 4)
    origins = array_of(content, "memory", "origins", np.int32, 1)
    ids = array_of(content, "memory", "ids", np.int64, 1)
    ends = np.cumsum(sizes, dtype=np.int64)
    fits = (
        int(sizes.min()) >= 0 and len(latents) == len(origins) == len(ids) == ends[-1] and bool((seen >= sizes).all())
    )
    need(fits and between(seen, 0, MAX_COUNTER), "Its memory's counts do not fit its samples.")
    parts = [slice(int(end) - int(size), int(end)) for end, size in zip(ends, sizes, strict=True)]
    return {
        int(c): Reservoir(latents[part].copy(), origins[part].copy(), ids[part].copy(), int(seen[k]))
        for k, (c, part) in enumerate(zip(classes, parts, strict=True))
    }
