"""docs/bits.md's figures."""

from __future__ import annotations

from statistics import stdev

from figures.committed import format_number, mean, runs
from figures.shared import at_work, making, minibatch_memory, planned, small_axes, small_loss, small_state, state

PAGE = "docs/bits.md"
__all__ = [
    "at_work",
    "making",
    "minibatch_memory",
    "planned",
    "small_axes",
    "small_loss",
    "small_state",
    "state",
]


def seeds(bits: str) -> str:
    """Replay on CIFAR-10 with ReAct-18: mean and standard deviation."""
    each = [row["final"] for row in runs("cifar10", "react18", "replay", bits=bits)]
    return f"{format_number(mean(each))} ± {format_number(stdev(each))}"
