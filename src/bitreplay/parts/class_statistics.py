"""Class statistics of all images ever learned, as a part of a state: counts, class sums and products (engine/sums.py).

Classes stand in the order of their names, so that two tallies of the same pictures are equal, however they came. With
`by_class` a tally keeps the products of each class too, a row each, which add up to those of all: then a class can be
taken out exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.arguments import short_repr
from bitreplay.engine import native_sums
from bitreplay.engine.sums import MAX_PICTURES, Sums, width
from bitreplay.learning.classes import Name, in_order
from bitreplay.parts.part import ArrayState, Names, array_of, need, only

ARRAYS = ("counts", "class_sums", "products", "class_products")
NOT_SUMS = "These are not sums of images."
NEVER = "These pictures cannot all have been learned as these classes; nothing is unlearned."


@dataclass(frozen=True)
class ClassStatisticsState(ArrayState):
    """The state of class statistics: arrays, and the names of their rows."""

    names: tuple[Name, ...] = ()

    @property
    def sums(self) -> Sums:
        """They are never changed."""
        arrays = (self.arrays[name] for name in ARRAYS if name in self.arrays)
        return Sums.of(arrays, bool(self.counters["forgotten"]))

    @property
    def class_products(self) -> NDArray | None:
        return self.arrays.get("class_products")


class ClassStatistics:
    """`forgotten` counts the classes that were removed while others stayed: see `forget`."""

    version: ClassVar[int] = 1
    counters: ClassVar[tuple[str, ...]] = ("forgotten",)

    def __init__(self, n_features: int, by_class: bool = False) -> None:
        self.names: tuple[Name, ...] = ()
        self.by_class = by_class
        self._begin(n_features)

    def _begin(self, n_features: int) -> None:
        self.sums, self.forgotten = Sums.empty(n_features, 0, self.by_class), 0

    @property
    def class_products(self) -> NDArray | None:
        return self.sums.class_products

    def make_room(self, names: Iterable[Name]) -> None:
        """Add a row without images for each new name."""
        self._place(self.names, in_order([*self.names, *names]))

    def add(self, x: NDArray[np.int8], names: Sequence[Name]) -> None:
        """Add images of classes that have a row."""
        native_sums.add(self.sums, x, self._rows(names))

    def remove(self, x: NDArray[np.int8], names: Sequence[Name]) -> None:
        """Remove images, as if they had never been learned. ValueError if they cannot have been; the sums may have
        changed then."""
        rows = self._rows(names)
        many = np.bincount(rows, minlength=len(self.names)) > self.sums.counts
        if many.any():
            row = int(many.argmax())
            raise ValueError(
                f"Only {self.sums.counts[row]} pictures of {short_repr(self.names[row])} were learned; "
                "nothing is unlearned."
            )
        native_sums.add(self.sums, x, rows, sign=-1)
        self.settle()

    def settle(self, otherwise: str = NEVER) -> None:
        """Drop classes without images after a removal. ValueError for sums that no images have."""
        self._leave_out_the_empty()
        need_possible(self.sums, otherwise)

    def prove(self, otherwise: str = NEVER) -> None:
        """ValueError for sums that are possible one by one, but not together."""
        need_factor(self.sums, otherwise)

    def _leave_out_the_empty(self) -> None:
        """Drop the names and rows of classes without images; without classes nothing stays."""
        empty = self.sums.counts == 0
        need(not self.sums.class_sums[empty].any(), NEVER)
        if not empty.any():
            return
        self.names = tuple(name for name, none in zip(self.names, empty, strict=True) if not none)
        if not self.names:
            need(bool(self.forgotten) or not self.sums.products.any(), NEVER)
            self._begin(self.sums.n_features)
            return
        if self.class_products is not None:
            need(not self.class_products[empty].any(), NEVER)
        self.sums = self.sums.without(np.flatnonzero(empty))

    def combine(self, state: ClassStatisticsState, sign: int = 1) -> None:
        """Add the statistics of another state, or subtract them; its products are not copied."""
        self.make_room(state.names)
        other = state.sums.placed(self._rows(state.names), len(self.names))
        self.sums.forgot = self.sums.forgot or other.forgot
        native_sums.combine(self.sums, other, sign)
        self.forgotten += sign * state.counters["forgotten"]
        self.sums.forgot = bool(self.forgotten)

    def _rows(self, names: Sequence[Name]) -> NDArray[np.int32]:
        rows = {name: row for row, name in enumerate(self.names)}
        return np.array([rows[name] for name in names], np.int32)

    def rename(self, old: Name, new: Name) -> None:
        """Rename a class; rows stay in the order of names."""
        renamed = tuple(new if name == old else name for name in self.names)
        self._place(renamed, in_order(renamed))

    def forget(self, name: Name) -> None:
        """Remove a class: n_c, s_c, and its products where they are kept by class.

        Where they are not, what the class's sum makes of the products goes, and its share of the scatter within classes
        stays in them (engine/sums.py). With the last class nothing stays.
        """
        row = self.names.index(name)
        self.names = self.names[:row] + self.names[row + 1 :]
        if not self.names:
            self._begin(self.sums.n_features)
        else:
            sums = self.sums.copy()
            native_sums.forget(sums, row)
            self.sums, self.forgotten = sums, self.forgotten + (not self.by_class)

    def _place(self, old: tuple[Name, ...], new: tuple[Name, ...]) -> None:
        """Rows that belong to `old` names move to the places of `new` ones."""
        rows = {name: row for row, name in enumerate(new)}
        if old != new or self.names != new:
            places = np.array([rows[name] for name in old], np.int64)
            self.sums = self.sums.placed(places, len(new))
            self.names = new

    # as a part of a state

    def state_dict(self) -> ClassStatisticsState:
        arrays = _arrays_of(self.sums.shared())
        return ClassStatisticsState(arrays, {"forgotten": self.forgotten}, self.version, self.names)

    def fits(self, state: ClassStatisticsState) -> bool:
        same = state.sums.n_features == self.sums.n_features
        return same and (state.class_products is not None) == (self.class_products is not None)

    def load_state_dict(self, state: ClassStatisticsState) -> None:
        self.sums, self.names, self.forgotten = state.sums.shared(), state.names, state.counters["forgotten"]

    @classmethod
    def read(cls, content: ArrayState, names: Names) -> ClassStatisticsState:
        only(content, "sums", "counts", "class_sums", "products", "class_products")
        counts = array_of(content, "sums", "counts", np.int64, 1)
        kind = width(int(counts.sum())).type
        if content.counters["forgotten"] and content.arrays.get("products", counts).dtype == np.int64:
            kind = np.int64  # what was forgotten may have left more than the pictures that stay
        rows = array_of(content, "sums", "class_sums", kind, 2)
        array_of(content, "sums", "products", kind, 1)
        known = tuple(name for name in names if name is not None)
        need(known == names and in_order(known) == known, "Its classes are not in order.")
        need(len(names) == len(counts) == len(rows), "Its sums do not fit its names.")
        need(((counts > 0) & (counts <= MAX_PICTURES)).all(), "It has a class without pictures, or with too many.")
        state = ClassStatisticsState(dict(content.arrays), content.counters, cls.version, known)
        if state.class_products is not None:
            array_of(content, "sums", "class_products", kind, 2)
            need(not content.counters["forgotten"], "It forgot a class inexactly and keeps products of classes.")
        need_possible(state.sums)
        nothing = not state.sums.products.any() and not content.counters["forgotten"]
        need(bool(known) or nothing, "It has sums without a class.")
        return state


def renamed(state: ClassStatisticsState, table: Mapping[Name, Name]) -> ClassStatisticsState:
    """The state with other names; classes that get one name become one."""
    new = [table.get(name, name) for name in state.names]
    names = in_order(new)
    if list(names) == list(state.names):
        return state
    rows = np.array([names.index(name) for name in new], np.int64)
    arrays = _arrays_of(state.sums.placed(rows, len(names)))
    return ClassStatisticsState(arrays, state.counters, state.version, names)


def _arrays_of(sums: Sums) -> dict[str, NDArray]:
    return dict(zip(ARRAYS, sums.arrays, strict=False))


def need_possible(sums: Sums, otherwise: str = NOT_SUMS) -> None:
    """Raise ValueError(`otherwise`) for sums that no images have."""
    try:
        sums.check_types()
    except ValueError:
        raise ValueError(otherwise) from None
    need(native_sums.possible(sums), otherwise)


def need_factor(sums: Sums, otherwise: str = NOT_SUMS) -> None:
    """The same of the scatter within classes; of sums that are possible. What a forgotten class left may have none."""
    need(sums.forgot or native_sums.has_factor(sums), otherwise)
