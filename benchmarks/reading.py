"""Seconds to read JPEGs and encode them, on one core and on two: what `evaluate`, `predict` and `learn` do.

    python -m benchmarks.reading                     writes results/reading.csv; needs two cores

The pictures are made up. `one` and `two` are read_labelled with the learner's `encode`, in a process that may use one
core or two; `two processes` is half of the pictures in each of two processes, which is what the machine can do at best.
Wall clock, the best of alternating turns.
"""

from __future__ import annotations

import csv
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from bitreplay import Learner
from bitreplay.cli.reading import SkippedFiles, read_labelled

RESULTS = Path(__file__).with_name("results") / "reading.csv"
KINDS = {"640x480": (480, 640, 200), "4000x3000": (3000, 4000, 24)}
NETWORK, TURNS = "efficientnet_lite0", 8


def write_pictures(folder: Path, height: int, width: int, count: int) -> None:
    """Two folders with one class each."""
    rng = np.random.default_rng(0)
    for number in range(count):
        place = folder / str(number % 2) / "some"
        place.mkdir(parents=True, exist_ok=True)
        blobs = Image.fromarray(rng.integers(0, 256, (height // 20, width // 20, 3), np.uint8))
        blobs.resize((width, height), Image.Resampling.BICUBIC).save(place / f"{number}.jpg", quality=88)


def encode(learner: Learner, folder: Path, cores: set[int]) -> None:
    os.sched_setaffinity(0, cores)
    read_labelled(folder, None, learner.strategy.side, SkippedFiles(False), use=learner.encode)


def seconds(learner: Learner, folder: Path, how: str, cores: list[int]) -> float:
    start = time.perf_counter()
    if how == "two processes":
        child = os.fork()
        encode(learner, folder / str(int(child == 0)), {cores[child == 0]})
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    else:
        for half in ("0", "1"):
            encode(learner, folder / half, set(cores[: 1 if how == "one" else 2]))
    return time.perf_counter() - start


def main() -> None:
    learner, cores = Learner.from_pretrained(NETWORK), sorted(os.sched_getaffinity(0))
    rows = []
    for kind, (height, width, count) in KINDS.items():
        with tempfile.TemporaryDirectory() as name:
            write_pictures(Path(name), height, width, count)
            hows = ("one", "two", "two processes")
            turns = [{how: seconds(learner, Path(name), how, cores) for how in hows} for _ in range(TURNS)]
        best = {how: min(turn[how] for turn in turns) for how in hows}
        rows.append({"pictures": kind, "count": count} | {how: f"{best[how]:.3f}" for how in hows})
        print(rows[-1], f"{best['one'] / best['two']:.2f} of {best['one'] / best['two processes']:.2f} times")
    with RESULTS.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
