"""What do two threads gain? A step of the tail of bench/tail.py, against two processes of one thread at the same time.

Two processes that share nothing are what two cores can do at best. The clock is the wall's: all run for the same time,
in turns, and the best turn of each side counts. A ratio of 1 says that two threads do as many steps as both processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import ours
from benchmarks.bench.peers import Bench
from benchmarks.bench.row import Row
from bitreplay.engine.bit_widths import Bits

MINIBATCH, THREADS, TARGET = 32, 2, 0.85
WORK = f"tail step of {MINIBATCH}, {THREADS} threads"
PEER = f"ours, {THREADS} processes"


def rows(bench: Bench) -> Iterator[Row]:
    if (os.cpu_count() or 1) < THREADS:
        yield Row("threads", WORK, PEER, "ms", None, None, TARGET, f"this machine has fewer than {THREADS} cores")
        return
    program = ours.tail_program(ours.bireal18(), ours.REPLAY_LAYER, Bits(8, 1, 16), MINIBATCH)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tail.program"
        file.write_bytes(program.to_bytes())
        together, apart = [Stepper(file, THREADS)], [Stepper(file, 1) for _ in range(THREADS)]
        bench.say(f"  {bench.rounds} rounds of {THREADS} threads and {THREADS} processes")
        best = {True: 0.0, False: 0.0}
        for _ in range(bench.rounds):
            for side in (together, apart):
                best[side is together] = max(best[side is together], steps_a_second(side))
        for stepper in together + apart:
            stepper.end()
    yield Row("threads", WORK, PEER, "ms", 1000 / best[True], 1000 / best[False], TARGET, "wall clock, all cores")


class Stepper:
    """A process that takes steps on request."""

    def __init__(self, file: Path, threads: int) -> None:
        command = [sys.executable, "-m", "benchmarks.bench.stepper", str(file), str(MINIBATCH), str(threads)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer()

    def ask(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def answer(self) -> float:
        assert self._process.stdout is not None
        return float(self._process.stdout.readline())

    def end(self) -> None:
        self._process.communicate()


def steps_a_second(steppers: list[Stepper]) -> float:
    """Of all of them together, working at the same time."""
    for stepper in steppers:
        stepper.ask()
    return sum(stepper.answer() for stepper in steppers)
