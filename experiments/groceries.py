"""Groceries, 7 experiences of 2 classes: 1-bit replay, BNN+CWR*, naive fine-tuning and joint training.

    python experiments/groceries.py --models bireal18 react18 --strategies replay cwr naive joint --seeds 0 1 2

Level codes are computed once for each model ("cached", not augmented). One row a run is appended to
results/groceries.csv: accuracy on all 14 classes after each experience. `joint` learns everything in one experience.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from networks import published
from rows import RESULTS, append

from bitreplay.data.dataset import Dataset
from bitreplay.data.groceries import groceries
from bitreplay.learner import Learner
from bitreplay.learning.samples import Latents
from bitreplay.strategies import STRATEGIES
from bitreplay.streams.follow import follow
from bitreplay.streams.scenario import new_classes

HEADER = "model digest replay_layer latent_bits bits archive strategy learning_rate epochs min_steps".split()
HEADER += ["memory_per_class", "seed"]
HEADER += [f"after{number}" for number in range(1, 7)] + ["final", "seconds_encode", "seconds_learn"]


def coded(learner: Learner, data: Dataset, cache_file: Path | None) -> tuple[np.ndarray, np.ndarray, float]:
    """Codes of training and test pictures, and the seconds that a training picture took."""
    if cache_file is not None and cache_file.exists():
        with np.load(cache_file) as archive:
            return archive["train"], archive["test"], float(archive["seconds"])
    start = time.process_time()
    train = learner.encode(data.train_images)
    seconds = (time.process_time() - start) / len(train)
    test = learner.encode(data.test_images)
    if cache_file is not None:
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(cache_file, train=train, test=test, seconds=seconds)
    return train, test, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["bireal18"])
    parser.add_argument("--replay-layer")
    parser.add_argument("--latent-bits", type=int, default=1)
    parser.add_argument("--bits", default="8/1/16", help="q_f/q_b^bin/q_b^non-bin")
    parser.add_argument("--strategies", nargs="+", default=[*STRATEGIES, "joint"])
    parser.add_argument("--rates", nargs="+", default=["fitted"], help="a number, or fitted: the default")
    parser.add_argument("--epochs", type=int, nargs="+", default=[5])
    parser.add_argument("--min-steps", type=int, default=40)
    parser.add_argument("--memory-per-class", type=int, default=30)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--archive", type=Path, help="pictures of another size, made by tools/make_groceries.py")
    parser.add_argument("--codes", type=Path, help="folder that caches the latents between runs")
    parser.add_argument("--results", type=Path, default=RESULTS / "groceries.csv")
    args = parser.parse_args()

    data = groceries(args.archive)
    archive = f"{data.train_images.shape[1]}x{data.train_images.shape[2]}"
    for model in map(published, args.models):
        replay_layer = {} if args.replay_layer is None else {"replay_layer": args.replay_layer}
        settings = {
            "latent_bits": args.latent_bits,
            "bits": args.bits,
            "memory_per_class": args.memory_per_class,
            "min_steps": args.min_steps,
            **replay_layer,
        }
        probe = Learner.from_pretrained(model, **settings)
        assert probe.model is not None
        name, digest = args.replay_layer or probe.model.replay_layers[-1], probe.model.digest[:12]
        cache_file = args.codes / f"groceries-{digest}-{name}-{args.latent_bits}-{archive}.npz" if args.codes else None
        train, test, encode = coded(probe, data, cache_file)
        for strategy, rate, epochs, seed in (
            (s, r, e, seed) for s in args.strategies for r in args.rates for e in args.epochs for seed in args.seeds
        ):
            method, options = (
                "naive" if strategy == "joint" else strategy,
                {} if rate == "fitted" else {"learning_rate": rate},
            )
            learner = Learner.from_pretrained(model, strategy=method, epochs=epochs, seed=seed, **options, **settings)
            start = time.process_time()
            sizes = [14] if strategy == "joint" else [2] * 7
            groups = [e.classes for e in new_classes(data, sizes, np.random.default_rng(seed))]
            chosen = [np.flatnonzero(np.isin(data.train_labels, group)) for group in groups]
            stream = [(Latents(train[feature_layers]), data.train_labels[feature_layers]) for feature_layers in chosen]
            steps = follow(learner, stream, Latents(test), data.test_labels)
            after = [round(100 * step.evaluation.accuracy, 2) for step in steps]
            empty = [""] * (7 - len(after))
            row = [probe.model.name, digest, name, args.latent_bits, args.bits, archive, strategy, rate, epochs]
            row += [args.min_steps, args.memory_per_class, seed, *empty, *after]
            append(args.results, HEADER, [*row, round(encode, 4), round(time.process_time() - start, 1)])


if __name__ == "__main__":
    main()
