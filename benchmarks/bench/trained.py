"""How long does a step take when the tail's binary weights learn too, as 8-bit latent weights (bits 8/8/16)?"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import tail
from benchmarks.bench.peers import Bench, target_on
from benchmarks.bench.row import Row
from bitreplay.engine.bit_widths import Bits


def rows(bench: Bench) -> Iterator[Row]:
    yield from tail.contest(bench, "trained", Bits(8, 8, 16), 32, target_on(5, 7), 2.5)
