"""Working memory for a program that several threads run at the same time: an arena for each run, up to a limit.

Weights are shared. A run that finds no free arena waits for one; arenas are kept for the next run.

    arena = arenas.lend()
    with arena.lock:
        arena.machine.run(...)

The lock is entered by the `with` of whoever runs, so that no signal can come between taking it and being bound to free
it (lifecycle/turns.py says why); a semaphore, or a context manager of our own, is Python code that Ctrl-C may cut.
"""

from __future__ import annotations

from itertools import count
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from bitreplay.core import cores
from bitreplay.engine.footprint import Footprint
from bitreplay.engine.native import NativeMachine, SlowMachine
from bitreplay.engine.operations import Run

Machine = NativeMachine | SlowMachine
MAX_ARENAS = 8


def max_concurrent_runs() -> int:
    """Runs of one program at the same time: as many as the cores that this process may use, at most 8."""
    return min(cores.usable(), MAX_ARENAS)


class Arena:
    """A machine that whoever holds the lock runs alone; a sibling of the first one, made when it is first used."""

    def __init__(self, first: Machine, machine: Machine | None = None) -> None:
        self.lock = Lock()
        self._first, self._machine = first, machine

    @property
    def machine(self) -> Machine:
        if self._machine is None:
            self._machine = self._first.sibling()
        return self._machine

    @property
    def used(self) -> bool:
        return self._machine is not None


class Arenas:
    """`first` is a machine that from now on is run by way of this pool alone; the others are its siblings."""

    def __init__(self, first: Machine) -> None:
        self._first = first
        self._arenas = [Arena(first, first), *(Arena(first) for _ in range(1, max_concurrent_runs()))]
        self._next = count()

    @property
    def footprint(self) -> Footprint:
        """The memory of the first machine; each sibling adds its own parameters, arena and scratch."""
        return self._first.footprint

    @property
    def n_arenas(self) -> int:
        """The number of arenas in memory."""
        return sum(arena.used for arena in self._arenas)

    def lend(self) -> Arena:
        """A free arena, or else each in turn; another thread may be faster, then the lock waits for it."""
        free = (arena for arena in self._arenas if not arena.lock.locked())
        return next(free, None) or self._arenas[next(self._next) % len(self._arenas)]

    def forward(self, images: NDArray[np.uint8], name: str, results: NDArray) -> NDArray:
        """The tensor of this name for each image, as many at a time as an arena has room for."""
        at_once = self._first.program.max_samples
        for start in range(0, len(images), at_once):
            part = images[start : start + at_once]
            arena = self.lend()
            with arena.lock:
                arena.machine.write("images", np.ascontiguousarray(part))
                arena.machine.run("forward", Run(len(part)))
                found = arena.machine.read(name, len(part))
            results[start : start + len(part)] = found.reshape(len(part), *results.shape[1:])
        return results
