"""The moment at which a command has done its work, and what may still go wrong then.

A state is saved by one rename. Before it, whatever fails leaves the old state, and the exit code says so. After it, the
exit code is 0, whatever becomes of the answer: who tries again because of another one would learn twice.
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
    """What is begun here is ended: Ctrl-C comes too late. If it is the `last` thing that a command does, also for the
    answer, or else the exit code might say that nothing was done. Warnings are told as sentences."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            yield
    except BaseException:
        signal.signal(signal.SIGINT, before)
        raise
    if not last:
        signal.signal(signal.SIGINT, before)
    for warning in found:
        show.complain(warning.message)


@contextmanager
def answering(done: str) -> Iterator[None]:
    """`done` is so, and stays so if it cannot be told."""
    try:
        yield
    except show.Unprinted as error:
        show.complain(f"{done} {error}")
    except (Exception, KeyboardInterrupt) as error:
        show.complain(f"{done} The answer cannot be given: {error or type(error).__name__}")
