"""A fresh process that takes training steps for a while whenever a line comes in, and prints how many a second.

    python -m benchmarks.bench.stepper PROGRAM_FILE MINIBATCH THREADS

It may use all cores, whatever the process that starts it is pinned to. Its first line comes when it is ready.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.bench.ours import tail_step
from bitreplay.engine.program import Program

SECONDS = 0.25


def steps_a_second(step: Callable[[], object]) -> float:
    begin, steps = time.perf_counter(), 0
    while time.perf_counter() - begin < SECONDS:
        step()
        steps += 1
    return steps / (time.perf_counter() - begin)


def main(file: str, minibatch: int, threads: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    step = tail_step(Program.from_bytes(Path(file).read_bytes()), minibatch, threads)
    step()
    print(0, flush=True)
    for _ in sys.stdin:
        print(steps_a_second(step), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
