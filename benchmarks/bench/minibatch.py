"""Does a sample cost less, or no more, in a larger minibatch? The tail of bench/tail.py, milliseconds a sample.

The peer of each row is our own figure at the minibatch before: a ratio of 1 or more says that time falls or stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import ours
from benchmarks.bench.peers import Bench
from benchmarks.bench.row import Row
from benchmarks.bench.timing import race
from bitreplay.engine.bit_widths import Bits

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
STEADY = 0.97  # the ratio that still counts as constant: the noise of a race


def rows(bench: Bench) -> Iterator[Row]:
    program = ours.tail_program(ours.bireal18(), ours.REPLAY_LAYER, Bits(8, 1, 16), max(SIZES))
    bench.say(f"  {bench.rounds} rounds of minibatches up to {max(SIZES)}")
    times = race({str(size): ours.tail_step(program, size) for size in SIZES}, bench.rounds)
    for before, size in zip((None, *SIZES), SIZES, strict=False):
        theirs = None if before is None else 1000 * times[str(before)] / before
        name = "-" if before is None else f"ours, minibatch {before}"
        mine = 1000 * times[str(size)] / size
        yield Row("minibatch", f"tail step of {size}, per sample", name, "ms", mine, theirs, STEADY if before else None)
