"""The moment at which a command has saved, and what may still go wrong then.

A state is saved by one rename. A failure before it leaves the old state, and the exit code says so. After it the exit
code is 0 even if the result cannot be printed: a caller that retried would learn twice.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bitreplay.cli import show
from bitreplay.learner import Learner
from bitreplay.statefile import Lock


def save(learner: Learner, state: Path, lock: Lock) -> None:
    with uninterrupted():
        learner.save(state, lock=lock)


@contextmanager
def uninterrupted(last: bool = True) -> Iterator[None]:
    """Ignores Ctrl-C and prints warnings as sentences. If this is the `last` thing that a command does, Ctrl-C stays
    ignored while the result is printed; else the exit code could say that nothing was saved."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    except BaseException:
        signal.signal(signal.SIGINT, before)
        raise
    if not last:
        signal.signal(signal.SIGINT, before)
    for warning in caught:
        show.error(warning.message)


@contextmanager
def reporting(done: str) -> Iterator[None]:
    """Prints the result; if that fails, says that `done` holds even so."""
    try:
        yield
    except show.OutputError as error:
        show.error(f"{done} {error}")
    except (Exception, KeyboardInterrupt) as error:
        show.error(f"{done} The result cannot be printed: {error or type(error).__name__}")
