"""Unknown pictures, probabilities and expected confusions of learning by sums.

    python experiments/unknown.py refused --models efficientnet_lite0 react18 bireal18 quicknet react_tiny --cifar DIR
    python experiments/unknown.py sure --models efficientnet_lite0 react18 bireal18 quicknet react_tiny
    python experiments/unknown.py sure --data-name cifar10 --models react18 --data DIR
    python experiments/unknown.py refused --data-name npz --data FILE --cifar DIR      the pictures it was chosen on

`refused`: every class is held out in turn; how many test pictures of the known classes, of the class that was held out
and of CIFAR-10 (500 of no fruit) are called unknown, for each share asked for. `sure`: all classes are learned;
expected calibration error on the test pictures, in percent (10 bins of the largest probability), with the temperature
and with 1 in its place; and the rank correlation (Spearman) of expected and counted confusions over pairs of classes.
FILE (bitreplay.data.npz) has the 14 kinds of fruit of the Grocery Store data set that are not among those of groceries,
its train and val to learn, its test to ask, middle squares at 64x64; CIFAR's are training pictures then. One JSON row a
trial is appended to results/unknown.jsonl; with `--codes` the numbers of the pictures are kept in a folder.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from groceries import coded
from networks import published
from rows import RESULTS

from bitreplay.data.cifar import cifar10
from bitreplay.data.dataset import Dataset
from bitreplay.data.groceries import groceries
from bitreplay.data.npz import npz
from bitreplay.learner import Learner
from bitreplay.prediction.discriminant_predictor import FloatDiscriminant

SETS = {"groceries": groceries, "cifar10": cifar10, "npz": npz}
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
FAR, BINS = 500, 10


def percent(values: Any) -> float:
    return round(100 * float(np.mean(values)), 2)


def refused(learner: Learner, codes: np.ndarray) -> dict[str, float]:
    answers = {share: learner.predict_encoded(codes, unknown=share) for share in SHARES}
    return {str(share): percent([answer is None for answer in pairs]) for share, pairs in answers.items()}


def held_out(learner: Learner, train: np.ndarray, test: np.ndarray, far: np.ndarray, data: Dataset) -> list[dict]:
    nothing, rows = learner.state(), []
    for held, name in enumerate(data.class_names):
        learner.restore(nothing)
        known = data.train_labels != held
        learner.learn_encoded(train[known], data.train_labels[known])
        queries = {"known": test[data.test_labels != held], "new": test[data.test_labels == held], "far": far}
        rows.append({"held": name} | {part: refused(learner, codes) for part, codes in queries.items()})
    return rows


def calibration_error(shares: np.ndarray, right: np.ndarray) -> float:
    """The mean distance of how sure answers are from how often they are right, in percent."""
    index = np.minimum((shares * BINS).astype(int), BINS - 1)
    gaps = [abs(shares[index == k].sum() - right[index == k].sum()) for k in range(BINS)]
    return round(100 * float(sum(gaps)) / len(shares), 2)


def ranks(values: np.ndarray) -> np.ndarray:
    """Of equal values the mean of their places."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    return round(float(np.corrcoef(ranks(one), ranks(other))[0, 1]), 3)


def confused(learner: Learner, test: np.ndarray, labels: np.ndarray) -> float:
    """Pairs of classes: the expected share and the mean of the two that were counted."""
    evaluation = learner.evaluate_encoded(test, labels)
    count = len(evaluation.labels)
    shares = evaluation.confusion[:, :count] / np.maximum(evaluation.confusion.sum(axis=1, keepdims=True), 1)
    index = {label: k for k, label in enumerate(evaluation.labels)}
    pairs = learner.confusions()
    counted = [shares[index[p.one], index[p.other]] + shares[index[p.other], index[p.one]] for p in pairs]
    return spearman(np.array([pair.share for pair in pairs]), np.array(counted))


def sure(learner: Learner, train: np.ndarray, test: np.ndarray, data: Dataset) -> dict[str, Any]:
    learner.learn_encoded(train, data.train_labels)
    shares = learner.predict_proba_encoded(test)
    right = np.array(learner.labels)[shares.argmax(axis=1)] == data.test_labels
    told: Any = learner.predictor
    rule = FloatDiscriminant(told._sums, told._lengths, told._shrinkage)
    plain = np.exp(rule.logits(test) * rule.temperature())
    return {
        "accuracy": percent(right), "temperature": round(told._discriminant().temperature(), 3),
        "error": calibration_error(shares.max(axis=1), right),
        "error_without": calibration_error((plain / plain.sum(axis=1, keepdims=True)).max(axis=1), right),
        "confusions_rank_correlation": confused(learner, test, data.test_labels),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=["refused", "sure"])
    parser.add_argument("--data-name", default="groceries", choices=sorted(SETS))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--models", nargs="+", default=["react18"])
    parser.add_argument("--cifar", type=Path, help="CIFAR-10, for pictures of no fruit")
    parser.add_argument("--codes", type=Path, help="folder that keeps the numbers of the pictures between runs")
    parser.add_argument("--results", type=Path, default=RESULTS / "unknown.jsonl")
    args = parser.parse_args()
    data = SETS[args.data_name](args.data)
    for model in args.models:
        learner = Learner.from_pretrained(published(model), strategy="exact")
        assert learner.model is not None
        feature_layers = str(learner.settings.feature_layers).replace("/", "_")
        cache_file = args.codes and args.codes / f"{args.data_name}-{learner.model.digest[:12]}-8-{feature_layers}.npz"
        train, test, _ = coded(learner, data, cache_file)
        if args.question == "sure":
            rows = [sure(learner, train, test, data)]
        else:
            images = cifar10(args.cifar)
            part = images.train_images if args.data_name == "npz" else images.test_images
            rows = held_out(learner, train, test, learner.encode(part[:FAR]), data)
        for row in rows:
            line = {"question": args.question, "data": args.data_name, "model": model, **row}
            print(line, flush=True)
            with args.results.open("a") as file:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
