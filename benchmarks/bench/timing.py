"""Times of several things in one run: one core, one thread, in turns, the best of each.

The clock is the CPU time of the process, all its threads together: on a quiet machine it equals the wall clock, on a
busy one it leaves out the time in which other processes had the core. A peer that starts threads of its own pays for
them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping


def pin() -> str:
    """Keep this process on one core; returns which, or why not."""
    if not hasattr(os, "sched_setaffinity"):
        return "not pinned: the system has no sched_setaffinity"
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return f"pinned to core {core}"


def seconds(work: Callable[[], object], times: int) -> float:
    """CPU seconds of one call, the mean over `times` calls in a row."""
    begin = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begin) / times


def race(contestants: Mapping[str, Callable[[], object]], rounds: int, turn_seconds: float = 0.01) -> dict[str, float]:
    """Best CPU seconds of one call of each. Turns alternate, so that a disturbance hits all alike.

    Each turn lasts about `turn_seconds` seconds or one call, whichever is longer.
    """
    times = {}
    for name, work in contestants.items():
        work()
        times[name] = max(1, round(turn_seconds / max(seconds(work, 1), 1e-7)))
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, work in contestants.items():
            best[name] = min(best[name], seconds(work, times[name]))
    return best
