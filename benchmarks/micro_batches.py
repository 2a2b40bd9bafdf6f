"""A step of 160 samples of the frozen tail, whole and in parts: the arena's bytes and CPU seconds of a step.

    python -m benchmarks.micro_batches                       writes results/micro_batches.csv

Turns alternate, the best of several counts; one thread. What is learned must be equal, or nothing is written.
"""

from __future__ import annotations

import csv
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from bitreplay import zoo
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.parts.tail import Tail

RESULTS = Path(__file__).with_name("results") / "micro_batches.csv"
NETWORKS = ("react18", "bireal18", "quicknet")
SAMPLES, CLASSES, STEPS = 160, 16, 4
MICRO = (None, 8, 1)


def rows(name: str) -> list[tuple[object, ...]]:
    model, rng = zoo.find(name), np.random.default_rng(0)
    tails = {
        micro_batch_size: Tail(
            model.graph, model.replay_layers[-1], Bits(), CLASSES, SAMPLES, micro_batch_size=micro_batch_size
        )
        for micro_batch_size in MICRO
    }
    shape = tails[None].program.tensor("latents").shape
    seconds: dict[int | None, list[float]] = {micro_batch_size: [] for micro_batch_size in MICRO}
    for tail in tails.values():
        tail.load_head(tail.head_weights, np.ones(CLASSES, np.uint8))
    for _ in range(STEPS):
        latents = rng.integers(0, 1 << 64, (SAMPLES, *shape), np.uint64)
        labels = rng.integers(0, CLASSES, SAMPLES).astype(np.int32)
        for micro_batch_size, tail in tails.items():
            start = time.process_time()
            tail.step(latents, labels, Fraction(1, 50))
            seconds[micro_batch_size].append(time.process_time() - start)
    for tail in tails.values():
        for key, values in tail.tensors().items():
            assert np.array_equal(values, tails[None].tensors()[key]), (name, key)
    return [
        (
            name,
            micro_batch_size or "whole",
            native.footprint(tail.program).arena + tail.parts_bytes,
            f"{min(seconds[micro_batch_size]):.3f}",
        )
        for micro_batch_size, tail in tails.items()
    ]


def main() -> None:
    table_rows = [row for name in NETWORKS for row in rows(name)]
    with open(RESULTS, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("network", "micro_batch_size", "arena bytes", "CPU seconds a step"))
        table.writerows(table_rows)
    for row in table_rows:
        print(*row)


if __name__ == "__main__":
    main()
