"""What a learner takes while it works: `bitreplay plan`'s bytes beside the peak of a process.

    python -m benchmarks.at_work                     writes results/at_work.csv

A fresh process for each: ten classes of ten pictures are learned and twenty answered, on one thread, with the default
settings of the strategy. The base is taken when all modules are loaded and a small network has worked; what comes after
counts, Python's own objects and the pictures, which have the network's size, too.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.bench.resident import peak, restart_peak
from bitreplay import Learner, zoo
from bitreplay.planning.plan import plan
from bitreplay.settings import Settings

RESULTS = Path(__file__).with_name("results") / "at_work.csv"
NETWORKS = ("react18", "bireal18", "efficientnet_lite0")
CLASSES, EACH = 10, 10


def work(network: str, strategy: str) -> None:
    learner = Learner.from_pretrained(network, strategy=strategy)
    side = learner.strategy.side
    images = np.random.default_rng(0).integers(0, 256, (CLASSES * EACH, side, side, 3), np.uint8)
    learner.learn(images, [f"class {number % CLASSES}" for number in range(len(images))])
    learner.predict(images[:20])


def measure(network: str, strategy: str) -> int:
    work("react_tiny@1", "exact")
    work("react_tiny@1", "replay")
    base = restart_peak()
    work(network, strategy)
    return peak() - base


def main() -> None:
    if len(sys.argv) == 3:
        print(measure(*sys.argv[1:]))
        return
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["network", "strategy", "planned bytes", "peak above base"])
        for network in NETWORKS:
            for strategy in ("exact", "replay"):
                words = [sys.executable, "-m", "benchmarks.at_work", network, strategy]
                taken = subprocess.run(words, check=True, capture_output=True, text=True).stdout
                row = [network, strategy, plan(zoo.find(network), Settings(strategy=strategy), CLASSES).ram, int(taken)]
                writer.writerow(row)
                print(*row, flush=True)


if __name__ == "__main__":
    main()
