"""Progress, cancelling and the time limit of one `learn`."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass

from bitreplay.arguments import short_repr


@dataclass(frozen=True)
class Progress:
    """How far an experience is. Its parts: "fitting" the pictures to the backbone's size, "pictures" that pass the
    backbone, and "steps" of training. Pictures that have the size need no fitting.

    Augmented pictures pass the backbone in each step anew, so then there are only steps.
    """

    part: str
    done: int
    total: int


class LearningStopped(Exception):
    """`learn` was cancelled or ran out of time; the learner is as it was before."""


class Watch:
    """Asked between minibatches. `cancel` returns True to stop; `time_limit` counts seconds from the start."""

    def __init__(
        self,
        progress: Callable[[Progress], None] | None = None,
        cancel: Callable[[], bool] | None = None,
        time_limit: float | None = None,
    ) -> None:
        for name, function in (("progress", progress), ("cancel", cancel)):
            if function is not None and not callable(function):
                raise ValueError(f"{name} must be a function, got {short_repr(function)}.")
        real = isinstance(time_limit, numbers.Real) and not isinstance(time_limit, bool)
        if time_limit is not None and not (real and time_limit >= 0):
            raise ValueError(f"time_limit must be a number of seconds, got {short_repr(time_limit)}.")
        self._progress, self._cancel, self._time_limit = progress, cancel, time_limit
        self._start = time.monotonic()

    def check(self) -> None:
        if self._cancel is not None and self._cancel():
            raise LearningStopped("Learning was cancelled; nothing has changed.")
        if self._time_limit is not None and time.monotonic() - self._start > self._time_limit:
            raise LearningStopped(f"Learning took longer than {self._time_limit:g} s; nothing has changed.")

    def fitting(self, done: int, total: int) -> None:
        self.check()
        self.report("fitting", done, total)

    def report(self, part: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(Progress(part, done, total))
