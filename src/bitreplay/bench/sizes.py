"""What does a larger picture cost? The shipped QuickNet up to its last level, beside itself at 128x128."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bitreplay.bench import ours
from bitreplay.bench.peers import Bench, Peer, Settings
from bitreplay.bench.quicknet import FROZEN, REPLAY_LAYER
from bitreplay.bench.row import Row

OWN, OTHERS = 128, (160, 192, 224)


def rows(bench: Bench) -> Iterator[Row]:
    for size in OTHERS:
        graph = ours.quicknet(size, bench.package("PyTorch"))
        if graph is not None:
            work = ours.backbone_forward(graph, REPLAY_LAYER, FROZEN)
            peers = [Peer(f"QuickNet, {OWN}x{OWN}", "ours", _own)]
            yield from bench.contest("sizes", f"QuickNet forward up to the level, one {size}x{size} image", work, peers)


def _own(works: Any) -> Settings:
    return [("", lambda: works.backbone_forward(works.quicknet(OWN, None), REPLAY_LAYER, FROZEN))]
