"""CPU time of CIFAR-10's protocol, learning by sums beside the paper's strategy, in one run on one core.

    python experiments/exact_time.py --model react18 --images 5000 --data DIR

Pictures in, five experiences of two classes, tested on the whole test set after each; replay as published (5 epochs, 30
stored a class, new pictures cropped and flipped anew). Seconds are of the CPU, those of the test pictures included. One
row a strategy goes to results/exact_time.csv.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from networks import published
from rows import RESULTS, append, row_hash

from bitreplay.data.cifar import cifar10
from bitreplay.engine import native
from bitreplay.learner import Learner
from bitreplay.streams.follow import follow
from bitreplay.streams.scenario import new_classes

HEADER = ["model", "digest", "strategy", "images", "seed", "final", "cpu_seconds", "isa", "hash"]
SETTINGS: dict[str, dict[str, Any]] = {"exact": {}, "replay": {"augment": True}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the set; else it is looked for in BITREPLAY_DATA")
    parser.add_argument("--model", default="react18")
    parser.add_argument("--images", type=int, default=5000, help="training images a class")
    parser.add_argument("--results", type=Path, default=RESULTS / "exact_time.csv")
    args = parser.parse_args()
    data = cifar10(args.data).limit(args.images)
    for strategy, settings in SETTINGS.items():
        start = time.process_time()
        learner = Learner.from_pretrained(published(args.model), strategy=strategy, **settings)
        stream = new_classes(data, [2] * 5, np.random.default_rng(0))
        for step in follow(learner, stream, data.test_images, data.test_labels):
            print(step.number, step.evaluation.accuracy, time.process_time() - start, flush=True)
        assert learner.model is not None
        final, seconds = round(100 * step.evaluation.accuracy, 2), round(time.process_time() - start, 1)
        append(args.results, HEADER, [learner.model.name, learner.model.digest[:12], strategy, args.images, 0, final,
                                      seconds, native.isa(), row_hash(learner)])  # fmt: skip


if __name__ == "__main__":
    main()
