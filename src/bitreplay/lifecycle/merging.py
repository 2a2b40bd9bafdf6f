"""States of many devices added up: the state of one device that saw all of it, same hash (strategy exact).

    total = Total(base, rename)
    total.add(content, title)        for each state, in any order; two states are in memory, and the base
    total.take_out(content, title)   for each state that was added before, now or long ago, to remove it
    total.content()

Without a base the sums add up. Devices that all began as one state, the base, have its pictures in common:

    base + sum over devices of (device - base) - sum over those taken out of (state - base)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bitreplay.arguments import short_repr
from bitreplay.engine import native_sums
from bitreplay.learning.classes import Name, names_of
from bitreplay.lifecycle.assembly import sized
from bitreplay.parts import class_statistics, digests
from bitreplay.parts.lineage import Lineage, united
from bitreplay.parts.state import State
from bitreplay.statefile import Content
from bitreplay.strategies import STRATEGIES
from bitreplay.strategies.exact import digests_of, statistics_of

NOT_MERGED = "The states do not add up to sums of images; nothing is merged."


class MergedTwice(UserWarning):
    """Images were added to class statistics more than once."""


class Total:
    """Without `warns`, images that count twice cause no `MergedTwice`: the caller finds them by lineage."""

    def __init__(
        self, base: Content | None = None, rename: Mapping[Name, Name] | None = None, warns: bool = True
    ) -> None:
        self._warns = warns
        table = rename or {}
        self._table = dict(zip(names_of(list(table)), names_of(list(table.values())), strict=True))
        self._not_found = set(self._table)
        self._first: Content | None = None
        self._title = ""
        self._states = 0
        self._marks: frozenset[int] = frozenset()
        self._experiences = 0
        self._base: State | None = None
        if base is not None:
            self._fitting(base, "the base")
            self._base = self._renamed(base.state)

    def add(self, content: Content, title: str) -> None:
        """Add a state. ValueError, and nothing added, if it does not fit those before or does not contain the base."""
        self._fitting(content, title)
        state = self._renamed(content.state)
        if self._base is not None:
            _check_contains(state, self._base, f"{title} does not contain the base")
        if not self._states:
            by_class = statistics_of(state).class_products is not None
            self._statistics = class_statistics.ClassStatistics(statistics_of(state).sums.n_features, by_class)
            self._digests = digests.Digests()
        self._warn(Lineage.read(state.note_arrays), title)
        self._change(state, 1)
        self._states += 1
        if self._states > 1 and self._base is not None:
            self._change(self._base, -1)

    def take_out(self, content: Content, title: str) -> None:
        """Remove a state, as if it had never been added. ValueError, and nothing changed, if it cannot have been."""
        if not self._states:
            raise ValueError(f"There is no state to remove {title} from.")
        self._fitting(content, title)
        removed = self._renamed(content.state)
        if self._base is not None:
            _check_contains(removed, self._base, f"{title} does not contain the base")
        _check_contains(self._summed(), removed, f"{title} is not in the states that it is removed from")
        self._change(removed, -1)
        if self._base is not None:
            self._change(self._base, 1)
        self._statistics.settle()
        left = self._marks - (Lineage.read(removed.note_arrays).marks - self._marks_of_base())
        self._marks = left if self._statistics.names else frozenset()

    def _change(self, state: State, sign: int) -> None:
        self._statistics.combine(statistics_of(state), sign)
        self._digests.combine(digests_of(state), sign)
        self._experiences += sign * state.notes["experiences"]

    def content(self) -> Content:
        """The sum, with the settings of the first state. ValueError if a class to be renamed was in no state."""
        if not self._states or self._first is None:
            raise ValueError("There is no state to merge.")
        if self._not_found:
            raise ValueError(f"There is no class {short_repr(min(self._not_found, key=str))} in any of the states.")
        self._statistics.settle(NOT_MERGED)
        self._statistics.prove(NOT_MERGED)
        notes, lineage = {"experiences": max(self._experiences, 0)}, united(self._marks)
        state = replace(self._summed(), notes=notes, note_arrays=lineage.arrays())
        state.need_counted()
        return replace(self._first, state=state)

    def _summed(self) -> State:
        parts = {"sums": self._statistics.state_dict(), "digests": self._digests.state_dict()}
        return State(self._statistics.names, parts)

    def _fitting(self, content: Content, title: str) -> None:
        strategy = content.settings.strategy
        if not STRATEGIES[strategy].merges:
            mergeable = " or ".join(name for name, kind in STRATEGIES.items() if kind.merges)
            raise ValueError(f"Only states of the strategy {mergeable} can be merged; {title} has {strategy}.")
        theirs = sized(content, title)
        if self._first is None:
            self._first, self._title = replace(theirs, state=State((), {})), title
            return
        ours = self._first
        if ours.digest != theirs.digest:
            raise ValueError(
                f"{title} belongs to the model {theirs.model} ({theirs.digest[:12]}), {self._title} to {ours.model} "
                f"({ours.digest[:12]}); they cannot be merged."
            )
        if ours.size != theirs.size:
            sizes = f"{title} was learned at size {theirs.size}, {self._title} at {ours.size}"
            raise ValueError(f"{sizes}; they cannot be merged.")
        for name in ("bits", *sorted(STRATEGIES[strategy].own_settings)):
            mine, other = getattr(ours.settings, name), getattr(theirs.settings, name)
            if mine != other:
                theirs_told, ours_told = (
                    str(value)[:12] if name == "projection" else short_repr(value) for value in (other, mine)
                )
                raise ValueError(
                    f"{title} was learned with {name} {theirs_told}, {self._title} with {ours_told}; they cannot be "
                    "merged."
                )

    def _renamed(self, state: State) -> State:
        """A class that is an integer is also found by its text, as a command line has it."""
        table = {name: self._table.get(name, self._table.get(str(name), name)) for name in statistics_of(state).names}
        self._not_found -= {*table, *map(str, table)}
        if not self._table:
            return state
        sums = class_statistics.renamed(statistics_of(state), table)
        parts = {"sums": sums, "digests": digests.renamed(digests_of(state), table)}
        return replace(state, names=sums.names, parts=parts)

    def _warn(self, lineage: Lineage, title: str) -> None:
        if self._warns and lineage.marks & self._marks - self._marks_of_base():
            hint = "" if self._base is not None else "; if they began as one state, name it as the base"
            warnings.warn(
                f"{title} has pictures in common with the states before it, which count twice now{hint}.",
                MergedTwice,
                stacklevel=5,
            )
        self._marks |= lineage.marks

    def _marks_of_base(self) -> frozenset[int]:
        return frozenset() if self._base is None else Lineage.read(self._base.note_arrays).marks


def merged(
    content: Content, others: Sequence[Content], base: Content | None, rename: Mapping[Name, Name] | None,
    removed: Sequence[Content],
) -> Content:  # fmt: skip
    """The content and all the others, without those that are removed."""
    total = Total(base, rename)
    total.add(content, "this learner")
    for number, other in enumerate(others, start=1):
        total.add(other, "the other" if len(others) == 1 else f"other {number}")
    for one in removed:
        total.take_out(one, "the learner to remove")
    return total.content()


def _check_contains(state: State, base: State, otherwise: str) -> None:
    """Raise ValueError(`otherwise`) unless the state can be the base and more images."""
    statistics, base_statistics = statistics_of(state), statistics_of(base)
    rounded = statistics.counters["forgotten"] - base_statistics.counters["forgotten"]
    table = {name: row for row, name in enumerate(base_statistics.names)}
    rows = np.array([table.get(name, -1) for name in statistics.names], np.int32)
    fits = (
        rounded >= 0
        and statistics.sums.n_features == base_statistics.sums.n_features
        and set(table) <= set(statistics.names)
        and native_sums.contain(statistics.sums, base_statistics.sums, rows, rounded > 0)
    )
    if not fits:
        raise ValueError(f"{otherwise}: it began as another state, or pictures were forgotten or unlearned since.")
    without = digests.Digests()
    without.load_state_dict(digests_of(state))
    without.combine(digests_of(base), sign=-1)
