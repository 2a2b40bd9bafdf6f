"""Progress, cancelling and the time limit of one `learn`."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass

from bitreplay.arguments import short_repr


@dataclass(frozen=True)
class Progress:
    """How far an experience has come.

    Attributes
    ----------
    part : str
        "fitting" images to the size of the network, "pictures" that pass the network, or "steps" of training. Images
        of the right size are not fitted; augmented images pass the network in every step, so there are only steps.
    done, total : int
        How many of them.

    Examples
    --------
    >>> Progress("steps", 10, 40).done
    10
    """

    part: str
    done: int
    total: int


class LearningStopped(Exception):
    """Learning was cancelled or ran out of time; the learner is as it was before."""


class Watch:
    """Progress, cancelling and the time limit of one `learn`; checked between minibatches.

    Parameters
    ----------
    progress : callable, optional
        Called with a `Progress`.
    cancel : callable, optional
        Returns True to stop.
    time_limit : float, optional
        Seconds from now.

    Raises
    ------
    ValueError
        If an argument is not of its kind.

    Examples
    --------
    >>> Watch(print).report("steps", 1, 40)
    Progress(part='steps', done=1, total=40)
    """

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
        """Raise LearningStopped if learning was cancelled or the time is up."""
        if self._cancel is not None and self._cancel():
            raise LearningStopped("Learning was cancelled; nothing has changed.")
        if self._time_limit is not None and time.monotonic() - self._start > self._time_limit:
            raise LearningStopped(f"Learning took longer than {self._time_limit:g} s; nothing has changed.")

    def fitting(self, done: int, total: int) -> None:
        """Check, and report how many images are fitted."""
        self.check()
        self.report("fitting", done, total)

    def report(self, part: str, done: int, total: int) -> None:
        """Call `progress`, if there is one."""
        if self._progress is not None:
            self._progress(Progress(part, done, total))
