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
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from rows import RESULTS, append

from bitreplay import modelfile
from bitreplay.backbone import Backbone
from bitreplay.data.cifar import cifar10
from bitreplay.engine.compiler import Bits
from bitreplay.engine.graph import Graph
from bitreplay.learner import Learner, Settings
from bitreplay.metrics import accuracy
from bitreplay.replay import ReplayMemory
from bitreplay.tail import Tail

CLASSES = 10
HEADER = "model images per_class rate setting seed after1 after2 after3 after4 final seconds".split()


def coded_data(graph: Graph, level: str, args: argparse.Namespace) -> tuple[np.ndarray, ...]:
    """Level codes and labels of the training and test images; kept in the folder `--codes` if there is one."""
    kept = args.codes / f"{args.model.stem}-{level}-{args.images}.npz" if args.codes else None
    if kept is None or not kept.exists():
        data = cifar10(args.data).limit(args.images)
        backbone = Backbone(graph, level, Bits())
        found = [backbone.latent_bits(images) for images in (data.train_images, data.test_images)]
        arrays = (found[0], data.train_labels, found[1], data.test_labels)
        if kept is None:
            return arrays
        np.savez(kept, *arrays)
    with np.load(kept) as archive:
        return tuple(archive[name] for name in archive.files)


def build(graph: Graph, level: str, setting: str, seed: int, args: argparse.Namespace) -> Learner:
    strategy = "cwr" if setting.endswith("cwr") else "naive" if setting == "naive" else "replay"
    train = "head" if strategy == "cwr" else "tail"
    tail: Any
    if setting.startswith("float"):
        from bitreplay.torch.float_learner import FloatStepper

        tail = FloatStepper(graph, level, CLASSES, train=train, device=args.device)
    else:
        bits = Bits() if setting in ("cwr", "naive") else Bits(*(int(q) for q in setting.split("/")))
        tail = Tail(graph, level, bits, CLASSES, 160, train=train, seed=seed)
    memory = ReplayMemory(args.per_class, tuple(graph.shapes[level][:2]) + (-(-graph.shapes[level][2] // 64),), seed)
    pass_through = cast(Backbone, SimpleNamespace(latent_bits=lambda codes: codes))
    return Learner(pass_through, tail, memory, Settings(strategy=strategy, rate=args.rate, seed=seed))


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

    graph, _ = modelfile.load(args.model)
    train, train_labels, test, test_labels = coded_data(graph, args.level, args)
    for setting in args.setting:
        for seed in args.seeds:
            learner = build(graph, args.level, setting, seed, args)
            order = np.random.default_rng(seed).permutation(CLASSES)
            start, after = time.perf_counter(), []
            for pair in order.reshape(5, 2):
                chosen = np.flatnonzero(np.isin(train_labels, pair))
                learner.learn_codes(train[chosen], train_labels[chosen].astype(np.int32))
                after.append(round(100 * accuracy(learner.predict_codes(test), test_labels), 2))
            row = [args.model.stem, args.images, args.per_class, str(args.rate), setting, seed, *after]
            row += [round(time.perf_counter() - start)]
            append(args.results, HEADER, row)


if __name__ == "__main__":
    main()
