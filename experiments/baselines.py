"""Known methods on the very numbers that `exact` adds up: what does its rule bring, and what does joint training reach?

    python experiments/baselines.py --data-name cifar10 --models react18 bireal18 --data DIR

The network is frozen, so all of them see the same vectors x of a picture; only what is kept and the rule differ.

    ncm      nearest class mean (Mensink et al. 2013)
    slda     Deep SLDA (Hayes, Kanan 2020): class means and one covariance S, weights ((1 - e) S + e I)^-1, e = 1e-4;
             its running covariance is that of all pictures about their class means, which is taken at once here
    icarl    iCaRL's classifier (Rebuffi et al. 2017): 30 pictures a class chosen by herding, the nearest of their
             means, all of length 1. Its distillation trains the network, which is frozen here
    joint    softmax regression on the numbers of all classes at once, standardised; rate and decay are chosen
             on a tenth of the training pictures, and all of them are learned then

A row of results/baselines.csv: accuracy on the whole test set at the end. None depends on the order of classes.
`kept_bytes`: float32 means and covariance, int8 numbers of stored pictures; joint keeps the numbers of all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from exact import SETS, percent
from groceries import coded
from networks import published
from numpy.typing import NDArray
from rows import RESULTS, append
from run import commit, machine

from bitreplay.learner import Learner

HEADER = [
    "data",
    "model",
    "digest",
    "feature_layers",
    "n_features",
    "pictures",
    "method",
    "setting",
    "final",
    "kept_bytes",
    "seconds",
    "commit",
    "machine",
]
SHRINK, EXEMPLARS = 1e-4, 30
RATES, DECAYS = (0.0003, 0.001, 0.003, 0.01, 0.03), (0.0, 1e-4, 1e-3, 1e-2)
EPOCHS, BATCH, MOMENTUM = 30, 256, 0.9

Real = NDArray[np.float64]
Answers = NDArray[np.int64]
# training vectors, their labels, test vectors -> answers, the setting that was chosen, bytes kept
Method = Callable[[NDArray, Answers, NDArray], tuple[Answers, str, int]]


def class_means(x: NDArray, labels: Answers) -> Real:
    return np.stack([x[labels == c].mean(axis=0, dtype=np.float64) for c in range(labels.max() + 1)])


def nearest(x: NDArray, means: Real) -> Answers:
    """The class whose mean is nearest: |x - m|^2 without what all classes share."""
    return (x.astype(np.float64) @ means.T - 0.5 * (means**2).sum(axis=1)).argmax(axis=1)


def ncm(x: NDArray, labels: Answers, queries: NDArray) -> tuple[Answers, str, int]:
    means = class_means(x, labels)
    return nearest(queries, means), "", 4 * means.size


def slda(x: NDArray, labels: Answers, queries: NDArray) -> tuple[Answers, str, int]:
    means = class_means(x, labels)
    apart = x - means[labels]
    covariance = apart.T @ apart / len(x)
    weights = np.linalg.solve((1 - SHRINK) * covariance + SHRINK * np.eye(len(covariance)), means.T)
    answers = (queries @ weights - 0.5 * (means.T * weights).sum(axis=0)).argmax(axis=1)
    return answers, f"e={SHRINK}", 4 * (means.size + covariance.size)


def of_length_one(x: NDArray) -> Real:
    x = x.astype(np.float64)
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def herd(x: Real, count: int) -> NDArray[np.int64]:
    """Numbers of the vectors whose running mean stays nearest to the mean of all, in the order of taking."""
    mean, total, left = x.mean(axis=0), np.zeros(x.shape[1]), np.ones(len(x), bool)
    chosen_so_far = []
    for k in range(1, min(count, len(x)) + 1):
        away = (((total + x) / k - mean) ** 2).sum(axis=1)
        chosen_so_far.append(int(np.where(left, away, np.inf).argmin()))
        total, left[chosen_so_far[-1]] = total + x[chosen_so_far[-1]], False
    return np.array(chosen_so_far)


def icarl(x: NDArray, labels: Answers, queries: NDArray) -> tuple[Answers, str, int]:
    means, stored_bytes = [], 0
    for c in range(labels.max() + 1):
        samples = of_length_one(x[labels == c])
        chosen = herd(samples, EXEMPLARS)
        means.append(samples[chosen].mean(axis=0))
        stored_bytes += len(chosen) * x.shape[1]
    return nearest(of_length_one(queries), of_length_one(np.stack(means))), f"{EXEMPLARS} a class", stored_bytes


def regressed(x: NDArray[np.float32], labels: Answers, classes: int, rate: float, decay: float) -> NDArray[np.float32]:
    """Weights of a softmax regression, one column a class, by SGD with momentum at a rate that falls evenly to 0."""
    rng, weights = np.random.default_rng(0), np.zeros((x.shape[1], classes), np.float32)
    speed, done, steps = np.zeros_like(weights), 0, EPOCHS * -(-len(x) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for start in range(0, len(x), BATCH):
            chosen = order[start : start + BATCH]
            batch, logits = x[chosen], x[chosen] @ weights
            shares = np.exp(logits - logits.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            shares[np.arange(len(chosen)), labels[chosen]] -= 1
            speed = MOMENTUM * speed - np.float32(rate * (1 - done / steps)) * (
                batch.T @ shares / len(chosen) + np.float32(decay) * weights
            )
            weights, done = weights + speed, done + 1
    return weights


def joint(x: NDArray, labels: Answers, queries: NDArray) -> tuple[Answers, str, int]:
    mean, spread = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    real, probe = (
        np.concatenate([(each - mean) / spread, np.ones((len(each), 1))], axis=1).astype(np.float32)
        for each in (x, queries)
    )
    classes, held = int(labels.max()) + 1, np.random.default_rng(1).permutation(len(x)) < len(x) // 10

    def right(setting: tuple[float, float]) -> float:
        weights = regressed(real[~held], labels[~held], classes, *setting)
        return float(np.mean((real[held] @ weights).argmax(axis=1) == labels[held]))

    rate, decay = max(product(RATES, DECAYS), key=right)
    answers = (probe @ regressed(real, labels, classes, rate, decay)).argmax(axis=1)
    return answers, f"rate={rate} decay={decay}", x.size


METHODS: dict[str, Method] = {"ncm": ncm, "slda": slda, "icarl": icarl, "joint": joint}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-name", default="cifar10", choices=sorted(SETS))
    parser.add_argument("--data", type=Path, help="the folder of the set; else it is looked for in BITREPLAY_DATA")
    parser.add_argument("--models", nargs="+", default=["react18"])
    parser.add_argument("--feature-layers", help="by default the model's usual ones")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--codes", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS / "baselines.csv")
    args = parser.parse_args()
    data = SETS[args.data_name][0](args.data)
    for name in args.models:
        probe = Learner.from_pretrained(published(name), strategy="exact", feature_layers=args.feature_layers)
        assert probe.model is not None
        feature_layers, digest = probe.settings.feature_layers, probe.model.digest[:12]
        file_name = f"{args.data_name}-{digest}-8-{str(feature_layers).replace('/', '_')}.npz"
        train, test, _ = coded(probe, data, args.codes / file_name if args.codes else None)
        for method in args.methods:
            clock = time.process_time()
            answers, setting, stored_bytes = METHODS[method](train, data.train_labels.astype(np.int64), test)
            append(args.results, HEADER, [
                args.data_name, probe.model.name, digest, feature_layers, train.shape[1], len(train), method, setting,
                percent(answers == data.test_labels), stored_bytes, round(time.process_time() - clock), commit(),
                machine(),
            ])  # fmt: skip


if __name__ == "__main__":
    main()
