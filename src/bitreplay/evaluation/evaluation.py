"""Answers compared with the truth."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitreplay.evaluation import metrics
from bitreplay.learning.classes import Classes, Name


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Accuracy on all samples, on those of learned classes, and of each class.

    `answers` and `truth` are numbers of `labels`, one a sample; the number behind the last stands for "unknown".
    """

    samples: int
    accuracy: float
    seen_accuracy: float
    per_class: dict[Name, float]
    labels: list[Name]
    answers: NDArray[np.int32] = field(repr=False)
    truth: NDArray[np.int32] = field(repr=False)

    @property
    def confusion(self) -> NDArray[np.int64]:
        """A row for each true class of `labels` and a column for each answer, the last for "unknown"."""
        count = len(self.labels)
        return metrics.confusion_matrix(self.answers, self.truth, count + 1)[:count]

    @staticmethod
    def of(answers: list[Name | None], truth: list[Name], learned: list[Name]) -> Evaluation:
        table = Classes()
        table.add([*truth, *learned])
        count = len(table)
        indices = table.indices(answers)
        indices = np.where(indices < 0, count, indices).astype(np.int32)
        targets = table.indices(truth)
        tested = np.unique(targets)
        right, asked = (np.bincount(part, minlength=count) for part in (targets[indices == targets], targets))
        seen = np.intersect1d(table.indices(learned), tested)
        return Evaluation(
            len(truth),
            metrics.accuracy(indices, targets),
            metrics.accuracy_on(seen, indices, targets) if len(seen) else 0.0,
            {table.known[number]: float(right[number] / asked[number]) for number in tested.tolist()},
            table.known,
            indices,
            targets,
        )
