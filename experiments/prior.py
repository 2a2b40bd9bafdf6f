"""Few pictures: would another rule on top of `quicknet@2` tell photographs apart better?

    python experiments/prior.py choose --data DIR --pool POOL --cache runs/prior
    python experiments/prior.py test --data DIR --pool POOL --cache runs/prior

DIR is that of instead.py, POOL a pool of photographs without labels (docs/pretraining.md) that holds none of its
pictures, nor near copies. Rules are compared in float64 on the features of `exact`. `choose` learns some training
pictures of each class and asks up to 1,500 others, in two draws; no test picture is asked. `test` learns and asks as
instead.py does: for the rule that was chosen, once. Rows go to results/prior.csv; those that are there are not made
again.

    x'     = x, or its root
    y      = axes . x', which whiten a target (zoo/prior_axes.py)
    A      = S + lambda mean(diagonal of S) I in y,   lambda = min(cap, factor d / n)
    m'_c   = mu + (m_c - mu) n_c / (n_c + k)

A target is a projection, so it can be one in integers: `int8` rounds axes and y as zoo/principal_axes.py does, and is
what `projection.py make --prior` makes. `exact` is the rule of docs/law.md.
"""

from __future__ import annotations

import argparse
from csv import DictReader
from pathlib import Path
from typing import NamedTuple

import numpy as np
from instead import EACH, MAX_TESTED, PhotographSet, class_means, of_network, photographs
from numpy.typing import NDArray
from projection import photographs as of_pool
from projection import projected
from rows import RESULTS, append

from bitreplay import zoo
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.learner import Learner
from bitreplay.zoo.principal_axes import SPREAD, rounded
from bitreplay.zoo.prior_axes import part_means, rooted, whitening_axes

HEADER = ["pictures", "set", "rule", "root", "target", "share", "components", "cap", "factor", "k",
          "pictures_a_class", "asked", "accuracy"]  # fmt: skip
NETWORK, SIZE, DRAWS, ASKED_A_CLASS = "quicknet@2", 192, 2, 50
ROWS = RESULTS / "prior.csv"
Floats = NDArray[np.float64]


class Rule(NamedTuple):
    """Without a target, D is that of the pictures that are learned, as in `exact`."""

    name: str
    root: bool = False
    target: str = ""
    share: float = 0.5
    components: int = 1280
    integers: bool = False
    cap: float = 4.0
    factor: float = 1.0
    k: float = 4.0


EXACT = Rule("exact", cap=1, factor=0.25, k=8)
CHOSEN = Rule("root, neighbours", root=True, target="neighbours")
RULES = (
    EXACT,
    EXACT._replace(name="root", root=True),
    EXACT._replace(name="another lambda and k", cap=4, factor=1, k=4),
    Rule("total", target="total"),
    Rule("neighbours", target="neighbours"),
    Rule("root, total", root=True, target="total"),
    CHOSEN,
    CHOSEN._replace(name="root, neighbours, lambda and k of exact", cap=1, factor=0.25, k=8),
    CHOSEN._replace(name="root, neighbours, int8", integers=True),
    CHOSEN._replace(name="root, neighbours, int8, 512 components", integers=True, components=512),
)
TESTED = (EXACT, CHOSEN, RULES[8], RULES[9])


class Prior:
    """Features of the pool, and the axes that rules make of them; `lengths` are those of the parts of x."""

    def __init__(self, pool: NDArray[np.int8], lengths: list[int]) -> None:
        self.pool, self.lengths = pool, lengths
        self._made: dict[tuple[bool, str, float], tuple[Floats, Floats, Floats]] = {}

    def seen(self, rule: Rule, x: NDArray[np.int8]) -> Floats:
        """What the rule's discriminant reads."""
        x = rooted(x) if rule.root else x
        if not rule.target:
            return x.astype(np.float64)
        key = rule.root, rule.target, rule.share
        if key not in self._made:
            pool = rooted(self.pool) if rule.root else self.pool
            self._made[key] = whitening_axes(pool, self.lengths, rule.target, rule.share)
        axes, middle, total = self._made[key]
        axes = axes[: rule.components]
        if rule.integers:
            return projected(rounded(axes, middle, total, "", SPREAD), x).astype(np.float64)
        return (x - middle) @ axes.T


def answers(rule: Rule, prior: Prior, x: Floats, labels: NDArray, queries: Floats) -> NDArray:
    (n, d), means, counts, middle = x.shape, class_means(x, labels), np.bincount(labels), x.mean(axis=0)
    within = x - means[labels]
    matrix = within.T @ within / n
    ridge = np.full(d, np.trace(matrix) / d) if rule.target else part_means(matrix.diagonal(), prior.lengths)
    matrix[np.arange(d), np.arange(d)] += min(rule.cap, rule.factor * d / n) * ridge
    away = (counts / (counts + rule.k))[:, None] * (means - middle)
    weights = np.linalg.solve(matrix, away.T)
    return ((queries - middle) @ weights - 0.5 * (away.T * weights).sum(axis=0)).argmax(axis=1)


def held_out(data: PhotographSet, draw: int) -> tuple[NDArray, NDArray]:
    """The place of a training picture among those to learn, -1 for others, and which are asked: a quarter of a class,
    or all but 50."""
    place, asked = np.full(len(data.labels), -1), np.zeros(len(data.labels), bool)
    generator = np.random.default_rng(draw)
    for label in range(data.labels.max() + 1):
        own = generator.permutation(np.flatnonzero((data.labels == label) & (data.order >= 0)))
        count = max(len(own) // 4, len(own) - ASKED_A_CLASS if len(own) > ASKED_A_CLASS * 4 // 3 else 0)
        asked[own[:count]], place[own[count:]] = True, np.arange(len(own) - count)
    asked[generator.permutation(np.flatnonzero(asked))[MAX_TESTED:]] = False
    return place, asked


def rows_made() -> set[tuple[str, ...]]:
    if not ROWS.exists():
        return set()
    with ROWS.open(newline="") as file:
        keys = ("pictures", "set", "rule", "pictures_a_class")
        return {tuple(row[key] for key in keys) for row in DictReader(file)}


def measure(pictures: str, data: PhotographSet, x: NDArray[np.int8], prior: Prior) -> None:
    testing = pictures == "test"
    parts = [(data.order, data.order < 0)] if testing else [held_out(data, draw) for draw in range(DRAWS)]
    there = rows_made()
    for rule in TESTED if testing else RULES:
        missing = [each for each in EACH if (pictures, data.name, rule.name, str(each)) not in there]
        seen = prior.seen(rule, x) if missing else np.empty(0)
        for each in missing:
            right, asked = 0, 0
            for place, queries in parts:
                chosen = (place >= 0) & (place < each)
                given = answers(rule, prior, seen[chosen], data.labels[chosen], seen[queries])
                right, asked = right + int((given == data.labels[queries]).sum()), asked + len(given)
            share, accuracy = rule.share if rule.target else "", round(100 * right / asked, 2)
            row = [pictures, data.name, rule.name, int(rule.root), rule.target, share, seen.shape[1], rule.cap,
                   rule.factor, rule.k, each, asked, accuracy]  # fmt: skip
            append(ROWS, HEADER, row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", choices=["choose", "test"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pool", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("runs/prior"))
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    model, pool = zoo.find(NETWORK), args.cache / "pool.npy"
    if not pool.exists():
        np.save(pool, of_pool(Learner.from_pretrained(model, strategy="exact"), args.pool))
    prior = None
    for folder in sorted(path for path in args.data.iterdir() if (path / "train").is_dir()):
        classes = len(list((folder / "train").iterdir()))
        data = photographs(folder, max(100, MAX_TESTED // classes))
        x, features = of_network(data, model, SIZE, args.cache, default_feature_layers(model.graph))
        lengths = features.lengths
        prior = prior or Prior(np.load(pool), lengths)
        measure(args.pictures, data, x, prior)


if __name__ == "__main__":
    main()
