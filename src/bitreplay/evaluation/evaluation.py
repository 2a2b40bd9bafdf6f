"""Answers compared with the truth."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitreplay.evaluation import metrics
from bitreplay.learning.classes import Classes, Name


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Predictions compared with the true labels.

    Attributes
    ----------
    samples : int
        The number of samples.
    accuracy : float
        The share of right predictions; classes that were never learned count as wrong.
    seen_accuracy : float
        The same over samples of learned classes.
    per_class : dict
        The same by true class.
    labels : list
        All true and all learned classes.
    answers, truth : array of int32 (samples,)
        Indices into `labels`; one more than the last stands for "unknown".

    Examples
    --------
    >>> evaluation = Evaluation.of(["pear", "pear", None], ["pear", "plum", "plum"], ["pear"])
    >>> evaluation.seen_accuracy, evaluation.per_class["plum"]
    (1.0, 0.0)
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
        """Counts with one row per true class of `labels` and one column per answer, the last for "unknown"."""
        count = len(self.labels)
        return metrics.confusion_matrix(self.answers, self.truth, count + 1)[:count]

    @staticmethod
    def of(answers: list[Name | None], truth: list[Name], learned: list[Name]) -> Evaluation:
        """Compare answers with the truth.

        Parameters
        ----------
        answers : list
            One label per sample; None for "unknown".
        truth : list
            The true labels.
        learned : list
            The classes that were learned.

        Returns
        -------
        Evaluation

        Examples
        --------
        >>> Evaluation.of(["pear", None], ["pear", "plum"], ["pear"]).accuracy
        0.5
        """
        table = Classes()
        table.add([*truth, *learned])
        count = len(table)
        indices = table.indices(answers)
        indices = np.where(indices < 0, count, indices).astype(np.int32)
        targets = table.indices(truth)
        tested = np.unique(targets)
        right, total = (np.bincount(part, minlength=count) for part in (targets[indices == targets], targets))
        seen = np.intersect1d(table.indices(learned), tested)
        return Evaluation(
            len(truth),
            metrics.accuracy(indices, targets),
            metrics.accuracy_on(seen, indices, targets) if len(seen) else 0.0,
            {table.known[number]: float(right[number] / total[number]) for number in tested.tolist()},
            table.known,
            indices,
            targets,
        )
