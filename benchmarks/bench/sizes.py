"""What does a larger picture cost? The shipped QuickNet up to its last replay layer, beside itself at 128x128."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.bench import ours
from benchmarks.bench.peers import Bench, Peer, Settings
from benchmarks.bench.quicknet import FROZEN, REPLAY_LAYER
from benchmarks.bench.row import Row

SMALLEST, LARGER = 128, (160, 192, 224)


def rows(bench: Bench) -> Iterator[Row]:
    for size in LARGER:
        work = ours.backbone_forward(ours.quicknet(size), REPLAY_LAYER, FROZEN)
        peers = [Peer(f"QuickNet, {SMALLEST}x{SMALLEST}", "ours", _smallest)]
        yield from bench.contest(
            "sizes", f"QuickNet forward up to the replay layer, one {size}x{size} image", work, peers
        )


def _smallest(ours: Any) -> Settings:
    return [("", lambda: ours.backbone_forward(ours.quicknet(SMALLEST), REPLAY_LAYER, FROZEN))]
