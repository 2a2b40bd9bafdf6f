"""Learning by sums, class by class, in whole numbers and in float64: one row a model, data set, order of the classes.

    python experiments/exact.py --data-name cifar10 --models react18 bireal18 --seeds 0 1 2 --data DIR
    python experiments/exact.py --data-name groceries --models react18 bireal18 vgg_small quicknet quicknet_large

All training images, each once. Experiences: CIFAR-10 5 of 2 classes, CIFAR-100 10 of 10, groceries 7 of 2. A row of
results/exact.csv has the accuracy on the whole test set after each experience; at the end the same state answers by the
rule in float64 (`final_float`), and `equal` is the share of test pictures with the same answer. Every order of the
classes must end in one hash. Seconds are of the CPU: the network on all training images, sums, one discriminant an
experience. With `--codes` the numbers of the pictures are kept in a folder, with the seconds that they took.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from groceries import coded
from networks import published
from rows import RESULTS, append, row_hash

from bitreplay.data.cifar import cifar10, cifar100
from bitreplay.data.groceries import groceries
from bitreplay.engine import native
from bitreplay.learner import Learner
from bitreplay.streams.scenario import new_classes

SETS = {"cifar10": (cifar10, [2] * 5), "cifar100": (cifar100, [10] * 10), "groceries": (groceries, [2] * 7)}
HEADER = [
    "data",
    "model",
    "digest",
    "forward_bits",
    "feature_layers",
    "n_features",
    "pictures",
    "seed",
    "after",
    "final",
    "final_float",
    "equal",
    "state_bytes",
    "discriminant_bytes",
    "seconds_network",
    "seconds_sums",
    "seconds_discriminants",
    "isa",
    "hash",
]


def percent(values: np.ndarray) -> float:
    return round(100 * float(np.mean(values)), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-name", default="cifar10", choices=sorted(SETS))
    parser.add_argument("--data", type=Path, help="the folder of the set; else it is looked for in BITREPLAY_DATA")
    parser.add_argument("--models", nargs="+", default=["react18"])
    parser.add_argument("--feature-layers", help="by default the model's usual ones")
    parser.add_argument("--bits", default="8/1/16", help="q_f/q_b^bin/q_b^non-bin; only q_f matters")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="orders of the classes")
    parser.add_argument("--codes", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS / "exact.csv")
    args = parser.parse_args()
    read, sizes = SETS[args.data_name]
    data = read(args.data)
    for name in args.models:
        settings = {"strategy": "exact", "feature_layers": args.feature_layers, "bits": args.bits}
        probe = Learner.from_pretrained(published(name), **settings)
        assert probe.model is not None
        feature_layers, digest, width = probe.settings.feature_layers, probe.model.digest[:12], args.bits.split("/")[0]
        file_name = f"{args.data_name}-{digest}-{width}-{str(feature_layers).replace('/', '_')}.npz"
        train, test, each = coded(probe, data, args.codes / file_name if args.codes else None)
        network = each * len(train)
        for seed in args.seeds:
            learner, after, sums, solving = Learner.from_pretrained(probe.model, **settings), [], 0.0, 0.0
            for experience in new_classes(data, sizes, np.random.default_rng(seed)):
                chosen = np.flatnonzero(np.isin(data.train_labels, experience.classes))
                clock = time.process_time()
                learner.learn_encoded(train[chosen], data.train_labels[chosen])
                sums, clock = sums + time.process_time() - clock, time.process_time()
                learner.predict_encoded(test[:1])
                solving += time.process_time() - clock
                after.append(percent(learner.predict_encoded(test) == data.test_labels))
            real = Learner.from_pretrained(probe.model, **settings | {"bits": "float"})
            real.restore(learner.state())
            answers, others = learner.predict_encoded(test), real.predict_encoded(test)
            bytes_of = learner.strategy.footprint()
            append(args.results, HEADER, [
                args.data_name, probe.model.name, digest, width, feature_layers, train.shape[1], len(train), seed,
                " ".join(f"{value:.2f}" for value in after), after[-1], percent(others == data.test_labels),
                percent(answers == others), learner.memory_bytes, bytes_of["discriminant"], round(network, 1),
                round(sums, 2), round(solving, 2), native.isa(), row_hash(learner),
            ])  # fmt: skip


if __name__ == "__main__":
    main()
