"""What a state has come from, beside its hash: so that nobody adds the same pictures twice without a word.

Each experience adds a mark to a state's own chain,

    mark_k = first 8 bytes of sha256(mark_{k-1}, sha256 of the experience's numbers and names)

and states that were merged keep the marks of all of them. Two states with a mark in common both hold the pictures of
that experience and of all before it. A mark tells nothing of a picture to those who do not have that picture and
everything that was learned before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitreplay.learning.classes import Name
from bitreplay.parts.written_names import as_list

DIGITS = 16
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

    merged: frozenset[str] = frozenset()
    since: tuple[str, ...] = ()

    @property
    def marks(self) -> frozenset[str]:
        return self.merged | frozenset(self.since)

    def learned(self, experience: bytes) -> Lineage:
        if len(self.since) >= MAX_OWN:
            return self
        last = self.since[-1] if self.since else "".join(sorted(self.merged))
        mark = hashlib.sha256(last.encode() + b" " + experience).hexdigest()[:DIGITS]
        return Lineage(self.merged, (*self.since, mark))

    def text(self) -> str:
        """The text that files keep."""
        return f"{''.join(sorted(self.merged))}/{''.join(self.since)}"

    @staticmethod
    def read(text: object) -> Lineage:
        """The lineage of a text; ValueError if `text` cannot have written it."""
        merged, slash, since = text.partition("/") if isinstance(text, str) else ("", "", "")
        fits = all(len(part) % DIGITS == 0 and set(part) <= set("0123456789abcdef") for part in (merged, since))
        if not (slash and fits and len(since) <= MAX_OWN * DIGITS and len(merged) <= MAX_MERGED * DIGITS):
            raise ValueError("Invalid lineage.")
        return Lineage(frozenset(_cut(merged)), tuple(_cut(since)))


def united(marks: frozenset[str]) -> Lineage:
    """The lineage of merged states with these marks; beyond 65,536 the highest are dropped."""
    return Lineage(frozenset(sorted(marks)[:MAX_MERGED]))


def brought(x: NDArray[np.int8], names: Sequence[Name]) -> bytes:
    """The bytes of a part of an experience that its digest covers."""
    return np.ascontiguousarray(x).tobytes() + as_list(names).encode()


def _cut(text: str) -> list[str]:
    return [text[start : start + DIGITS] for start in range(0, len(text), DIGITS)]
