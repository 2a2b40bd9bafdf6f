"""Learning by sums: which features, which lambda, and how far are the means of few pictures drawn to the middle?

    python experiments/exact_choice.py layers --data-name cifar10 --model react18
    python experiments/exact_choice.py layers --data-name npz --data FILE --model react18
    python experiments/exact_choice.py few --data-name npz --data FILE --model bireal18

Answered in float64 on pictures that no reported figure uses: one half of CIFAR's training images learns, 8,000 of the
other half are asked. FILE (bitreplay.data.npz) has the 67 classes of the Grocery Store data set that are not among the
14 of groceries, its train and val to learn, its test to ask, middle squares at 64x64. `layers` compares feature layers
and lambda = min(1, factor d / n); `ones:` counts the ones of a layer's 1-bit code in the place of means. `few` knows 13
classes and is shown 5, 10 or 20 pictures of another; means are drawn to the middle by n_c / (n_c + k).
One JSON row per setting is appended to results/exact_choice.jsonl.
"""

from __future__ import annotations

import argparse
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
from networks import published
from rows import RESULTS

from bitreplay import zoo
from bitreplay.data.cifar import cifar10, cifar100
from bitreplay.data.dataset import Dataset
from bitreplay.data.npz import npz
from bitreplay.engine.arithmetic.packing import unpack
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.learner import Learner

ASKED, CLASSES = 8000, 14
FACTORS, DRAWN, SHOWN = (1 / 16, 1 / 4, 1, 4), (0, 2, 5, 8, 10, 20), (5, 10, 20)


class Discriminant:
    """The rule in float64, its shrinkages free. `parts` are the lengths of the parts of x."""

    def __init__(self, x: np.ndarray, labels: np.ndarray, parts: list[int]) -> None:
        x = x.astype(np.float64)
        self.counts, self.parts, self.pictures = np.bincount(labels), parts, len(x)
        sums = np.stack([x[labels == c].sum(axis=0) for c in range(len(self.counts))])
        self.means, self.middle = sums / self.counts[:, None], x.mean(axis=0)
        self.scatter = (x.T @ x - sums.T @ self.means) / len(x)

    def weights(self, factor: float) -> np.ndarray:
        matrix, ends = self.scatter.copy(), np.cumsum([0, *self.parts])
        shrink = min(1.0, factor * len(matrix) / self.pictures)
        for start, end in pairwise(ends):
            places = np.arange(start, end)
            matrix[places, places] += shrink * matrix[places, places].mean()
        return np.linalg.solve(matrix, (self.means - self.middle).T)

    def answers(self, x: np.ndarray, weights: np.ndarray, drawn: float) -> np.ndarray:
        pull = self.counts / (self.counts + drawn)
        apart = ((self.means - self.middle).T * weights).sum(axis=0)
        return (pull * ((x - self.middle) @ weights) - 0.5 * pull**2 * apart).argmax(axis=1)


def part(model: zoo.Model, name: str, images: np.ndarray) -> np.ndarray:
    """The numbers that one part gives."""
    if not name.startswith("ones:"):
        return Learner.from_pretrained(model, strategy="exact", feature_layers=name).encode(images)
    replay_layer, _, quarters = name.removeprefix("ones:").partition("/")
    learner, cells, batches = (
        Learner.from_pretrained(model, strategy="replay", replay_layer=replay_layer),
        2 if quarters else 1,
        [],
    )
    for start in range(0, len(images), 500):
        ones = unpack(learner.encode(images[start : start + 500]), model.graph.shapes[replay_layer][2])
        n, height, width, channels = ones.shape
        sums = ones.reshape(n, cells, height // cells, cells, width // cells, channels).sum(axis=(2, 4))
        batches.append(sums.reshape(n, -1).astype(np.int8))
    return np.concatenate(batches)


def combinations(model: zoo.Model) -> list[str]:
    """The usual numbers, what they are made of, and counts of ones in the place of means."""
    usual = default_feature_layers(model.graph)
    if len(model.replay_layers) < 2:
        (replay_layer,) = model.replay_layers
        return ["head", replay_layer, usual, f"ones:{replay_layer}", f"ones:{replay_layer}/4", f"head+{usual}"]
    low, high = model.replay_layers[-2:]
    return ["head", high, f"head+{high}", f"head+ones:{high}", f"head+{high}+{low}", f"head+ones:{high}+ones:{low}",
            usual, f"head+ones:{high}+ones:{low}/4", f"{high}+{low}/4", f"head+{high}/4+{low}/4"]  # fmt: skip


def split(data: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """CIFAR's training images in two halves: pictures and labels to learn, and to ask."""
    order = np.random.default_rng(0).permutation(len(data.train_labels))
    learn, ask = order[: len(order) // 2], order[len(order) // 2 :][:ASKED]
    return data.train_images[learn], data.train_labels[learn], data.train_images[ask], data.train_labels[ask]


def few(x: np.ndarray, labels: np.ndarray, queries: np.ndarray, truth: np.ndarray, parts: list[int]) -> list[dict]:
    """Four groups of 14 classes, every second class of a group held out in turn."""
    accuracies: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for group in range(4):
        rng = np.random.default_rng(group)
        classes = np.sort(rng.permutation(labels.max() + 1)[:CLASSES])
        test = np.isin(truth, classes)
        for held in range(group % 2, CLASSES, 2):
            samples = rng.permutation(np.flatnonzero(labels == classes[held]))
            others = np.flatnonzero(np.isin(labels, np.delete(classes, held)))
            new = truth[test] == classes[held]
            for shown in SHOWN:
                chosen = np.concatenate([others, samples[:shown]])
                rule = Discriminant(x[chosen], np.searchsorted(classes, labels[chosen]), parts)
                weights = rule.weights(1 / 4)
                for drawn in DRAWN:
                    right = classes[rule.answers(queries[test], weights, drawn)] == truth[test]
                    accuracies.setdefault((shown, drawn), []).append((right[new].mean(), right[~new].mean()))
    rows = []
    for (shown, drawn), shares in accuracies.items():
        new_class, rest = 100 * np.mean(shares, axis=0)
        rows.append({"shown": shown, "k": drawn, "trials": len(shares), "new": round(new_class, 2),
                     "others": round(rest, 2), "mean": round((new_class + rest) / 2, 2)})  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=["layers", "few"])
    parser.add_argument("--data-name", default="cifar10", choices=["cifar10", "cifar100", "npz"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--model", default="react18")
    parser.add_argument("--results", type=Path, default=RESULTS / "exact_choice.jsonl")
    args = parser.parse_args()
    model = zoo.find(published(args.model))
    if args.data_name == "npz":
        data = npz(args.data)
        learn = data.train_images, data.train_labels, data.test_images, data.test_labels
    else:
        learn = split({"cifar10": cifar10, "cifar100": cifar100}[args.data_name](args.data))
    images, labels, queries, truth = learn
    wanted = combinations(model) if args.question == "layers" else [default_feature_layers(model.graph)]
    features: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for feature_layers in wanted:
        names = feature_layers.split("+")
        features |= {
            name: (part(model, name, images), part(model, name, queries)) for name in names if name not in features
        }
        x, probe = (np.concatenate([features[name][side] for name in names], axis=1) for side in (0, 1))
        lengths = [features[name][0].shape[1] for name in names]
        start = {
            "question": args.question,
            "data": args.data_name,
            "model": model.name,
            "feature_layers": feature_layers,
            "d": x.shape[1],
            "pictures": len(x),
        }
        if args.question == "few":
            note(args.results, [start | row for row in few(x, labels, probe, truth, lengths)])
            continue
        rule = Discriminant(x, labels, lengths)
        accuracy = {}
        for factor in FACTORS:
            right = rule.answers(probe, rule.weights(factor), 0) == truth
            accuracy[str(factor)] = round(100 * float(right.mean()), 2)
        note(args.results, [start | {"accuracy_by_factor": accuracy}])


def note(path: Path, rows: list[dict]) -> None:
    with path.open("a") as file:
        for row in rows:
            print(json.dumps(row), flush=True)
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
