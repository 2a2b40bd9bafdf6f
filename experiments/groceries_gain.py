"""Replay's gain of the learning rate, chosen on training photographs of groceries that were held out.

    python experiments/groceries_gain.py --models bireal18 react18 quicknet

The last third of each class's training photographs is tested on here; no test photograph is looked at, and the seeds
are not those of groceries.py. Gains double from 10 to 160, and further up or down while the best of a network is at an
end. One row a run is appended to results/groceries_gain.csv: accuracy on the held-out photographs after the last of 7
experiences of 2 classes. Codes are computed once.
"""

from __future__ import annotations

import argparse
import statistics
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from networks import published
from numpy.typing import NDArray
from rows import RESULTS, append, row_hash
from run import commit, machine

from bitreplay import zoo
from bitreplay.data.dataset import Dataset
from bitreplay.data.groceries import groceries
from bitreplay.learner import Learner
from bitreplay.learning.samples import Latents
from bitreplay.lifecycle import assembly
from bitreplay.settings import Settings
from bitreplay.strategies.replay import Replay
from bitreplay.streams.follow import follow
from bitreplay.streams.scenario import new_classes

HEADER = ["model", "digest", "replay_layer", "gain", "seed", "learned", "tested", "final", "hash", "commit", "machine"]
GAINS = (10, 20, 40, 80, 160)
HELD = Fraction(1, 3)


def held_out(labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The last third of the photographs of each class.

    >>> held_out(np.array([0, 0, 0, 1, 1, 1, 1, 1, 1]))
    array([False, False,  True, False, False, False, False,  True,  True])
    """
    held = np.zeros(len(labels), bool)
    for c in np.unique(labels):
        members = np.flatnonzero(labels == c)
        held[members[len(members) - int(len(members) * HELD) :]] = True
    return held


def learner_with(gain: Fraction, model: zoo.Model, seed: int) -> Learner:
    kind: Any = type(Replay.__name__, (Replay,), {"gain": gain})
    return Learner(kind.on(assembly.context_of(model, Settings(strategy="replay", seed=seed), "cpu")), model)


def final(learner: Learner, data: Dataset, codes: NDArray, held: NDArray[np.bool_], seed: int) -> float:
    groups = [e.classes for e in new_classes(data, [2] * 7, np.random.default_rng(seed))]
    chosen = [np.flatnonzero(np.isin(data.train_labels, group) & ~held) for group in groups]
    stream = [(Latents(codes[members]), data.train_labels[members]) for members in chosen]
    *_, last = follow(learner, stream, Latents(codes[held]), data.train_labels[held])
    return round(100 * last.evaluation.accuracy, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["bireal18", "react18", "quicknet"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11, 12])
    parser.add_argument("--results", type=Path, default=RESULTS / "groceries_gain.csv")
    args = parser.parse_args()
    data = groceries()
    held = held_out(data.train_labels)
    for name in args.models:
        model = zoo.find(published(name))
        codes = learner_with(Replay.gain, model, 0).encode(data.train_images)
        means: dict[Fraction, float] = {}
        left = [Fraction(gain) for gain in GAINS]
        while left:
            gain = left.pop(0)
            finals = []
            for seed in args.seeds:
                learner = learner_with(gain, model, seed)
                finals.append(final(learner, data, codes, held, seed))
                append(args.results, HEADER, [
                    name, model.digest[:12], model.replay_layers[-1], gain, seed, np.count_nonzero(~held),
                    np.count_nonzero(held), finals[-1], row_hash(learner), commit(), machine(),
                ])  # fmt: skip
            means[gain] = statistics.mean(finals)
            best = max(means, key=means.__getitem__)
            if not left and best in (min(means), max(means)):
                left = [best / 2 if best == min(means) else best * 2]


if __name__ == "__main__":
    main()
