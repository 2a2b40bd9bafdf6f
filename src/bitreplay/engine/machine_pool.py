"""Working memory for a program that several threads run at the same time: an arena for each run, at most so many.

Weights are shared. A run that finds no free arena waits for one; those that were made stay for the next run.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from bitreplay.engine.footprint import Footprint
from bitreplay.engine.native import NativeMachine, SlowMachine

Machine = NativeMachine | SlowMachine
MOST = 8


def most_at_once() -> int:
    """Runs of one program at the same time: as many as the cores that this process may use, at most 8."""
    return min(len(os.sched_getaffinity(0)), MOST)


class Arenas:
    """`first` is a machine that from now on is run by way of this pool alone; the others are its siblings."""

    def __init__(self, first: Machine) -> None:
        self._first = first
        self._free = deque([first])
        self._room = BoundedSemaphore(most_at_once())

    @property
    def footprint(self) -> Footprint:
        """What the first machine takes; each sibling adds its own parameters, arena and scratch."""
        return self._first.footprint

    @contextmanager
    def one(self) -> Iterator[Machine]:
        """A machine that nobody else runs until it is given back."""
        with self._room:
            try:
                machine = self._free.pop()
            except IndexError:
                machine = self._first.sibling()
            try:
                yield machine
            finally:
                self._free.append(machine)
