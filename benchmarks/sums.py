"""Learning by sums on one core: what a picture costs to add, a solution to make, a picture to answer.

    python -m benchmarks.sums                    every row below; writes results/sums.csv
    python -m benchmarks.sums 1024 10            one size, as a table

A row is a number of numbers d, of classes and an instruction set. `add_20_s` and `solve_s` are what learning 20
pictures of a new class takes after the network; `add_us` is a picture of 2,000, `answer_us` one of 1,000. Seconds are
the least of three, of this process alone (CPU time).
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bitreplay.engine import native, native_sums
from bitreplay.engine.native_discriminant import discriminant_of
from bitreplay.engine.sums import Sums

RESULTS = Path(__file__).resolve().parent / "results" / "sums.csv"
SIZES = [(128, 10), (512, 10), (512, 100), (1024, 10), (1024, 100), (2048, 10), (2048, 100)]
COLUMNS = ("n_features", "classes", "isa", "add_20_s", "solve_s", "add_us", "answer_us", "state_bytes", "work_bytes")


def fastest(action: Callable[[], object], times: int = 3) -> float:
    """CPU seconds of the fastest of `times` calls."""
    seconds = []
    for _ in range(times):
        before = time.process_time()
        action()
        seconds.append(time.process_time() - before)
    return min(seconds)


def row(n_features: int, classes: int, path: str) -> dict[str, object]:
    native.set_isa(path)
    rng = np.random.default_rng(0)
    pictures = max(2000, 2 * classes)
    sources = rng.normal(size=(pictures, 64)) @ rng.normal(size=(64, n_features)) * 5
    x = np.clip(sources + rng.normal(size=sources.shape) * 9, -127, 127).astype(np.int8)
    labels = np.arange(pictures, dtype=np.int32) % classes
    sums = Sums.empty(n_features, classes)
    native_sums.add(sums, x, labels)
    many, few = sums.copy(), sums.copy()
    rule = discriminant_of(sums, [n_features])
    return {
        "n_features": n_features,
        "classes": classes,
        "isa": path,
        "add_20_s": f"{fastest(lambda: native_sums.add(few, x[:20], labels[:20])):.5f}",
        "solve_s": f"{fastest(lambda: discriminant_of(sums, [n_features])):.4f}",
        "add_us": f"{fastest(lambda: native_sums.add(many, x[:2000], labels[:2000])) / 2000 * 1e6:.1f}",
        "answer_us": f"{fastest(lambda: rule.labels(x[:1000])) / 1000 * 1e6:.2f}",
        "state_bytes": sum(part.nbytes for part in (sums.counts, sums.class_sums, sums.products)),
        "work_bytes": native_sums.solve_bytes(n_features, classes),
    }


def main() -> None:
    sizes = [(int(sys.argv[1]), int(sys.argv[2]))] if len(sys.argv) == 3 else SIZES
    print("\t".join(COLUMNS))
    rows = []
    for size in sizes:
        for path in native.available_isas():
            rows.append(row(*size, path))
            print("\t".join(str(rows[-1][name]) for name in COLUMNS), flush=True)
    if sizes is SIZES:
        with RESULTS.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
