"""How long does a step take when the tail's binary weights learn too, as 8-bit latent weights (bits 8/8/16)?"""

from __future__ import annotations

from collections.abc import Iterator

from bitreplay.bench import tail
from bitreplay.bench.peers import Bench, asked
from bitreplay.bench.row import Row
from bitreplay.engine.bit_widths import Bits


def rows(bench: Bench) -> Iterator[Row]:
    yield from tail.contest(bench, "trained", Bits(8, 8, 16), 32, asked(5, 7), 2.5)
