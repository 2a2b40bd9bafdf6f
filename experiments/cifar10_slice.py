"""CIFAR-10 class by class with 1,000 training images a class: the integer learner, its float twin and the baselines.

    python experiments/cifar10_slice.py MODEL.safetensors --data DIR --setting 8/1/16 --seeds 0 1 2

Five experiences of two classes, five epochs each, minibatches of 32 new and 128 replayed samples, 30 samples a class.
Level codes are computed once and not augmented ("cached"). One row a run is appended to results/cifar10_slice.csv:
accuracy on the whole test set after each experience. Settings: q_f/q_b^bin/q_b^non-bin, `float`, `cwr` (BNN+CWR*: only
the head learns, no replay), `naive` (tail and head learn, no replay); `float-cwr` is the float twin of `cwr`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from rows import RESULTS, append

from bitreplay import zoo
from bitreplay.backbone import Backbone
from bitreplay.data.cifar import cifar10
from bitreplay.engine.compiler import Bits
from bitreplay.follow import follow
from bitreplay.learner import Learner
from bitreplay.pretrained import build as strategy_of
from bitreplay.samples import Codes
from bitreplay.settings import Settings
from bitreplay.strategies import STRATEGIES
from bitreplay.zoo import Model

CLASSES = 10
HEADER = "model images per_class rate setting seed after1 after2 after3 after4 final seconds".split()


def coded_data(model: Model, level: str, args: argparse.Namespace) -> tuple[np.ndarray, ...]:
    """Level codes and labels of the training and test images; kept in the folder `--codes` if there is one."""
    kept = args.codes / f"{args.model.stem}-{level}-{args.images}.npz" if args.codes else None
    if kept is None or not kept.exists():
        data = cifar10(args.data).limit(args.images)
        backbone = Backbone(model.graph, level, Bits())
        found = [backbone.latent_bits(images) for images in (data.train_images, data.test_images)]
        arrays = (found[0], data.train_labels, found[1], data.test_labels)
        if kept is None:
            return arrays
        np.savez(kept, *arrays)
    with np.load(kept) as archive:
        return tuple(archive[name] for name in archive.files)


def build(model: Model, level: str, setting: str, seed: int, args: argparse.Namespace) -> Learner:
    strategy = setting.removeprefix("float-") if setting.removeprefix("float-") in STRATEGIES else "replay"
    bits = "float" if setting.startswith("float") else "8/1/16" if setting in STRATEGIES else setting
    settings = Settings(
        strategy=strategy, bits=bits, level=level, rate=args.rate, per_class=args.per_class, seed=seed
    )  # fmt: skip
    return Learner(strategy_of(model, settings, device=args.device), model)


def pairs(train: np.ndarray, labels: np.ndarray, seed: int) -> Iterator[tuple[Codes, np.ndarray]]:
    """Five experiences of two classes, in an order that the seed decides."""
    for pair in np.random.default_rng(seed).permutation(CLASSES).reshape(5, 2):
        chosen = np.flatnonzero(np.isin(labels, pair))
        yield Codes(train[chosen]), labels[chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--setting", nargs="+", default=["8/1/16"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--images", type=int, default=1000, help="training images a class")
    parser.add_argument("--per-class", type=int, default=30)
    parser.add_argument("--rate", type=Fraction, default=Fraction(1, 100))
    parser.add_argument("--level", default="add_12")
    parser.add_argument("--codes", type=Path, help="folder that keeps the level codes between runs")
    parser.add_argument("--device", default="cpu", help="where the float settings run")
    parser.add_argument("--results", type=Path, default=RESULTS / "cifar10_slice.csv")
    args = parser.parse_args()

    model = zoo.find(args.model)
    train, train_labels, test, test_labels = coded_data(model, args.level, args)
    for setting in args.setting:
        for seed in args.seeds:
            learner = build(model, args.level, setting, seed, args)
            start = time.perf_counter()
            steps = follow(learner, pairs(train, train_labels, seed), Codes(test), test_labels)
            after = [round(100 * step.evaluation.accuracy, 2) for step in steps]
            row = [args.model.stem, args.images, args.per_class, str(args.rate), setting, seed, *after]
            row += [round(time.perf_counter() - start)]
            append(args.results, HEADER, row)


if __name__ == "__main__":
    main()
