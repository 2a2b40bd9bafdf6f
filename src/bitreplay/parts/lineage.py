"""What a state has come from, beside its hash: so that nobody adds the same pictures twice without a word.

Each experience adds a mark to a state's own chain,

    mark_k = first 8 bytes of sha256(mark_{k-1}, sha256 of the experience's features and names)     as uint64

and states that were merged keep the marks of all of them. Two states with a mark in common both hold the pictures of
that experience and of all before it. A mark tells nothing of a picture to those who do not have that picture and
everything that was learned before it.

The core makes the marks. Sets of them stand in C too (learner/exact/lineage.cc), for devices that unite them in place:
here they are Python's own sets, which a call could not make shorter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitreplay.learning.classes import Name
from bitreplay.sections.native import mark_of
from bitreplay.sections.reference import names_to_bytes

MAX_OWN = 1 << 10  # later experiences have no mark: those before tell the state from others
MAX_MERGED = 1 << 16


@dataclass(frozen=True)
class Lineage:
    """`merged` are the marks of states that were merged into this one, `since` those of later experiences, in order.

    >>> one, other = Lineage().learned(b"pears"), Lineage().learned(b"plums")
    >>> both = united(one.marks | other.marks)
    >>> one.marks & other.marks, both.learned(b"figs").marks & one.marks == one.marks
    (frozenset(), True)
    """

    merged: frozenset[int] = frozenset()
    since: tuple[int, ...] = ()

    @property
    def marks(self) -> frozenset[int]:
        return self.merged | frozenset(self.since)

    def learned(self, experience: bytes) -> Lineage:
        if len(self.since) >= MAX_OWN:
            return self
        last = self.since[-1:] or tuple(sorted(self.merged))
        return Lineage(self.merged, (*self.since, mark_of(experience, _array(last).astype("<u8").tobytes())))

    def arrays(self) -> dict[str, NDArray[np.uint64]]:
        """What files keep."""
        return {"lineage.merged": _array(sorted(self.merged)), "lineage.since": _array(self.since)}

    @staticmethod
    def read(arrays: Mapping[str, NDArray]) -> Lineage:
        """The lineage of what `arrays` returned; ValueError for anything else."""
        merged, since = (arrays.get(name) for name in ("lineage.merged", "lineage.since"))
        if merged is None or since is None or any(a.dtype != np.uint64 or a.ndim != 1 for a in (merged, since)):
            raise ValueError("Its lineage is missing, or no array of marks.")
        if len(since) > MAX_OWN or len(merged) > MAX_MERGED or not (merged[1:] > merged[:-1]).all():
            raise ValueError("Its lineage is too long or not in order.")
        return Lineage(frozenset(merged.tolist()), tuple(since.tolist()))


def united(marks: frozenset[int]) -> Lineage:
    """The lineage of merged states with these marks; beyond 65,536 the highest are dropped."""
    return Lineage(frozenset(sorted(marks)[:MAX_MERGED]))


def brought(x: NDArray[np.int8], names: Sequence[Name]) -> bytes:
    """The bytes of a part of an experience that its digest covers."""
    return np.ascontiguousarray(x).tobytes() + names_to_bytes(tuple(names))


def _array(marks: Sequence[int]) -> NDArray[np.uint64]:
    return np.array(marks, np.uint64)
