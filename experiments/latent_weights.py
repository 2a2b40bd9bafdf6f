"""Binary weights that learn beside frozen ones, CIFAR-10 class by class: accuracy, and how many weights flipped.

    python experiments/latent_weights.py --data DIR [--settings 8/1/16 8/4/16 8/8/16 8/16/16] [--seeds 0 1 2]

Bi-Real-18 behind `add_12`; the stream, memory and minibatches of cifar10_slice.py, with 300 images a class. One row a
run is appended to results/latent_weights.csv.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from cifar10_slice import build, coded_data, pairs
from rows import RESULTS, append

from bitreplay import zoo
from bitreplay.engine.layers.latent_weights import load_latent
from bitreplay.follow import follow
from bitreplay.learner import Learner
from bitreplay.samples import Codes

HEADER = "model digest images rate setting seed flipped weights after1 after2 after3 after4 final cpu_seconds".split()
CHANNELS = 512


def signs(learner: Learner, bits: int) -> np.ndarray:
    """The binary weights that learn, as booleans; none where they are frozen."""
    tail = learner.state().parts["tail"].arrays
    latent = [array for name, array in tail.items() if name.endswith(".latent")]
    return np.concatenate([(load_latent(array, CHANNELS, bits) >= 0).reshape(-1) for array in latent] or [np.zeros(0)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--settings", nargs="+", default=["8/1/16", "8/4/16", "8/8/16", "8/16/16"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--images", type=int, default=300, help="training images a class")
    parser.add_argument("--per-class", type=int, default=30)
    parser.add_argument("--rate", type=Fraction, help="by default fitted to the model and the experience")
    parser.add_argument("--level", default="add_12")
    args = parser.parse_args()
    args.codes, args.device, args.model = None, "cpu", Path("bireal18")
    model = zoo.find("bireal18")
    train, labels, test, truth = coded_data(model, args.level, args)
    for seed in args.seeds:
        for setting in args.settings:
            learner, bits = build(model, args.level, setting, seed, args), int(setting.split("/")[1])
            before, start = signs(learner, bits), time.process_time()
            steps = follow(learner, pairs(train, labels, seed), Codes(test), truth)
            after = [round(100 * step.evaluation.accuracy, 2) for step in steps]
            flipped = int(np.count_nonzero(before != signs(learner, bits)))
            row = [
                model.name,
                model.digest[:12],
                args.images,
                args.rate or "fitted",
                setting,
                seed,
                flipped,
                len(before),
                *after,
            ]
            row += [round(time.process_time() - start)]
            append(RESULTS / "latent_weights.csv", HEADER, row)


if __name__ == "__main__":
    main()
