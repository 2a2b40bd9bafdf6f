"""The sums of all pictures ever learned, as a part of a state: counts, class sums and products (engine/sums.py).

Classes stand in the order of their names, so that two tallies of the same pictures are equal, however they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.classes import Name
from bitreplay.engine import native_sums
from bitreplay.engine.arithmetic.fixedpoint import divide_each, wide
from bitreplay.engine.sums import LARGEST, Sums, width
from bitreplay.parts.part import Names, Plain, array_of, need


def in_order(names: Iterable[Name]) -> tuple[Name, ...]:
    """Each name once: whole numbers before texts, both rising."""
    return tuple(sorted(set(names), key=lambda name: (isinstance(name, str), name)))


@dataclass(frozen=True)
class Tallied(Plain):
    """What a tally gives: its arrays, and the names of their rows."""

    names: tuple[Name, ...] = ()

    @property
    def sums(self) -> Sums:
        """Nobody changes them."""
        return Sums(self.arrays["counts"], self.arrays["class_sums"], self.arrays["products"])


class Tally:
    """`forgotten` counts the classes that were taken out while others stayed: see `forget`."""

    version: ClassVar[int] = 1
    counters: ClassVar[tuple[str, ...]] = ("forgotten",)

    def __init__(self, numbers: int) -> None:
        self.sums = Sums.empty(numbers, 0)
        self.names: tuple[Name, ...] = ()
        self.forgotten = 0

    def make_room(self, names: Iterable[Name]) -> None:
        """New names get a row without pictures."""
        self._place(self.names, in_order([*self.names, *names]))

    def add(self, x: NDArray[np.int8], names: Sequence[Name]) -> None:
        """Pictures of classes that have a row."""
        rows = {name: row for row, name in enumerate(self.names)}
        native_sums.add(self.sums, x, np.array([rows[name] for name in names], np.int32))

    def rename(self, old: Name, new: Name) -> None:
        """The class keeps its sums and takes the new name's place."""
        renamed = tuple(new if name == old else name for name in self.names)
        self._place(renamed, in_order(renamed))

    def forget(self, name: Name) -> None:
        """Take a class out: n_c, s_c, and of the products s_c s_c^T / n_c, rounded.

        The products are one sum for all classes, so the class's share of the scatter within classes stays in them. With
        the last class nothing stays.
        """
        row = self.names.index(name)
        stay = np.delete(np.arange(len(self.names)), row)
        self.names = tuple(self.names[other] for other in stay)
        if not self.names:
            self.sums, self.forgotten = Sums.empty(self.sums.numbers, 0), 0
            return
        count, total = int(self.sums.counts[row]), wide(self.sums.class_sums[row])
        counts, class_sums = self.sums.counts[stay], self.sums.class_sums[stay]
        products = wide(self.sums.products) - _outer(total, count)
        # What stays is bounded like the sums of the pictures that stay.
        most, stored = LARGEST**2 * int(counts.sum()), width(int(counts.sum()))
        self.sums = Sums(counts, class_sums.astype(stored), np.clip(products, -most, most).astype(stored))
        self.forgotten += 1

    def _place(self, old: tuple[Name, ...], new: tuple[Name, ...]) -> None:
        """Rows that belong to `old` names move to the places of `new` ones."""
        rows = {name: row for row, name in enumerate(new)}
        if old != new or self.names != new:
            self.sums = self.sums.placed(np.array([rows[name] for name in old], np.int64), len(new))
            self.names = new

    # as a part of a state

    def give(self) -> Tallied:
        kept = self.sums.copy()
        arrays = {"counts": kept.counts, "class_sums": kept.class_sums, "products": kept.products}
        return Tallied(arrays, {"forgotten": self.forgotten}, self.version, self.names)

    def fits(self, given: Tallied) -> bool:
        return given.sums.numbers == self.sums.numbers

    def take(self, given: Tallied) -> None:
        self.sums, self.names, self.forgotten = given.sums.copy(), given.names, given.counters["forgotten"]

    @classmethod
    def read(cls, found: Plain, names: Names) -> Tallied:
        counts = array_of(found, "sums", "counts", np.int64, 1)
        kind = width(int(counts.sum())).type
        rows = array_of(found, "sums", "class_sums", kind, 2)
        array_of(found, "sums", "products", kind, 1)
        known = tuple(name for name in names if name is not None)
        need(known == names and in_order(known) == known, "Its classes do not stand in order.")
        need(len(names) == len(counts) == len(rows), "Its sums do not fit its names.")
        need((counts > 0).all(), "It has a class without pictures.")
        given = Tallied(dict(found.arrays), found.counters, cls.version, known)
        given.sums.check()
        nothing = not given.sums.products.any() and not found.counters["forgotten"]
        need(bool(known) or nothing, "It has sums without a class.")
        return given


def _outer(total: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """s s^T / n, the lower triangle by rows. With s = q n + r, |r| <= n / 2, it is s_i q_j + q_i r_j + r_i r_j / n: the
    first two are whole numbers, the last one, |r_i r_j| < 2^60, is rounded to nearest, ties away from zero."""
    q = divide_each(total, np.int64(count))
    r = total - q * count
    rows = [
        total[i] * q[: i + 1] + q[i] * r[: i + 1] + divide_each(r[i] * r[: i + 1], np.int64(count))
        for i in range(len(total))
    ]
    return np.concatenate(rows)
