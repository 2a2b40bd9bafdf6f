"""Few pictures: a learner that knows 13 kinds of fruit is shown 5, 10 or 20 pictures of the fourteenth.

    python experiments/groceries_few.py --model bireal18 --strategy replay --held 0 1 2 3 4 5 6 7 8 9 10 11 12 13
    python experiments/groceries_few.py --model bireal18 --strategy exact

Codes are computed once. One row a trial is appended to results/groceries_few.csv: accuracy on the test pictures
of the new class, on those of the others before and after, and the share of the others' that is taken for the new class.
`--share` measures "unknown" too: how many test pictures of known classes, of the class not yet shown and (with
`--cifar`) of no fruit at all are refused; these are columns of the rows with 0 pictures.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from networks import published
from rows import RESULTS, append

from bitreplay.data.cifar import cifar10
from bitreplay.data.groceries import groceries
from bitreplay.learner import Learner

HEADER = ["model", "strategy", "learning_rate", "held", "pictures", "new_accuracy", "others_before", "others_after",
          "taken_for_new", "known_refused", "new_refused", "far_refused", "seconds"]  # fmt: skip


def percent(values: np.ndarray) -> float:
    return round(100 * float(np.mean(values)), 2)


def refused(learner: Learner, codes: np.ndarray, share: float) -> float | str:
    if not learner.strategy.refuses:
        return ""
    return percent(np.array([answer is None for answer in learner.predict_encoded(codes, unknown=share)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="bireal18")
    parser.add_argument("--strategy", default="replay", choices=["replay", "exact"])
    parser.add_argument("--held", type=int, nargs="+", default=list(range(14)))
    parser.add_argument("--pictures", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--learning-rate", help="the default rate if not given")
    parser.add_argument("--share", type=float, default=0.05, help="of the stored samples that may be called unknown")
    parser.add_argument("--cifar", type=Path, help="CIFAR-10, for pictures of no fruit")
    parser.add_argument("--results", type=Path, default=RESULTS / "groceries_few.csv")
    args = parser.parse_args()

    data = groceries()
    settings = {"strategy": args.strategy} | (
        {} if args.learning_rate is None else {"learning_rate": args.learning_rate}
    )
    probe = Learner.from_pretrained(published(args.model), **settings)
    train, test = (probe.encode(part) for part in (data.train_images, data.test_images))
    far = probe.encode(cifar10(args.cifar).test_images[:500]) if args.cifar else None
    for held in args.held:
        learner = Learner.from_pretrained(published(args.model), seed=held, **settings)
        rng = np.random.default_rng(held)
        for group in np.array_split(rng.permutation(np.delete(np.arange(14), held)), 6):
            chosen = np.flatnonzero(np.isin(data.train_labels, group))
            learner.learn_encoded(train[chosen], data.train_labels[chosen])
        known, base = learner.state(), data.test_labels != held
        before = percent(learner.predict_encoded(test[base]) == data.test_labels[base])
        shares = [refused(learner, test[base], args.share), refused(learner, test[~base], args.share)]
        shares += ["" if far is None else refused(learner, far, args.share)]
        start = [args.model, args.strategy, args.learning_rate or "fitted", data.class_names[held]]
        append(args.results, HEADER, [*start, 0, 0.0, before, before, 0.0, *shares, ""])
        samples = rng.permutation(np.flatnonzero(data.train_labels == held))
        for count in args.pictures:
            learner.restore(known)
            clock = time.process_time()
            learner.learn_encoded(train[samples[:count]], data.train_labels[samples[:count]])
            learner.predict_encoded(test[:1])
            seconds = round(time.process_time() - clock, 2)
            answers = learner.predict_encoded(test)
            row = [count, percent(answers[~base] == held), before, percent(answers[base] == data.test_labels[base])]
            append(args.results, HEADER, [*start, *row, percent(answers[base] == held), "", "", "", seconds])


if __name__ == "__main__":
    main()
