"""The last whole state of a strategy, which everybody is answered from while the strategy builds the next one.

One change at a time (turns.py), whole or not at all. The strategy is where a new state is built, aside: nobody is
answered from it. The state is published by one assignment, before which nothing that anybody sees has changed. So
whatever stops a change, even Ctrl-C twice, there is nothing to undo: a strategy that was left half changed is brought
back to the published state at once if that is not stopped too, and otherwise by the next change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from bitreplay.lifecycle.turns import Turn
from bitreplay.parts.state import State
from bitreplay.prediction.predictor import Predictor
from bitreplay.statefile import Origin
from bitreplay.strategies import Strategy

T = TypeVar("T")


@dataclass(frozen=True)
class Snapshot:
    """What was learned up to the last change, what answers from it, and where it was last read or written."""

    state: State
    predictor: Predictor
    origin: Origin = Origin()


def removes_nothing(result: Any) -> bool:
    """For a change that takes nothing out."""
    return False


def removes(result: Any) -> bool:
    """For a change that takes something out."""
    return True


class Published:
    """`snapshot` may be read on any thread at any time; it is replaced, never changed."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.snapshot = Snapshot(strategy.state(), strategy.predictor())
        self._turn = Turn()
        self._held: State | None = self.snapshot.state  # what the strategy holds, if it is known

    def change(self, act: Callable[[], T], removing: Callable[[T], bool] = removes_nothing) -> T:
        """What `act` returns, which changes the strategy; then the strategy's new state is published.

        `removing` says of the result whether the revision before in the file must go too.
        """

        def change() -> T:
            self._settle()
            self._held = None
            try:
                result = act()
                origin = self.snapshot.origin.without_past() if removing(result) else self.snapshot.origin
                state = self.strategy.state()
                state.need_counted()
                new = Snapshot(state, self.strategy.predictor(), origin)
                self.snapshot, self._held = new, new.state  # nothing is called, so no signal comes, in between
                return result
            except BaseException:
                self._settle()
                raise

        return self._turn.during(change)

    def unchanged_during(self, act: Callable[[], T]) -> T:
        """What `act` returns, called while nobody changes the strategy."""
        return self._turn.during(act)

    def begin_at(self, origin: Origin) -> None:
        """The state was read from or written to a file."""
        self.snapshot = replace(self.snapshot, origin=origin)

    def _settle(self) -> None:
        """The strategy holds the published state, whatever it was left with."""
        state = self.snapshot.state
        if self._held is not state:
            self.strategy.load_state(state)
            self._held = state
