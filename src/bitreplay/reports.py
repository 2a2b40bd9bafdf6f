"""What a learner tells: what it has learned, what it has stored, how well it does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitreplay import metrics
from bitreplay.classes import Classes, Name


@dataclass(frozen=True)
class Learned:
    """One experience: its number, the numbers of its samples (for `forget`), new classes, steps of training."""

    experience: int
    samples: range
    new_classes: list[Name]
    steps: int


@dataclass(frozen=True)
class Stored:
    """One class in the replay memory. `experiences` maps an experience to how many of its samples are stored."""

    label: Name
    samples: int
    seen: int
    experiences: dict[int, int]
    ids: tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class Evaluation:
    """Accuracy on all samples, on those of learned classes, and of each class; `confusion` has a row for each true
    class of `labels` and a column for each answer, the last for "unknown"."""

    samples: int
    accuracy: float
    seen_accuracy: float
    per_class: dict[Name, float]
    labels: list[Name]
    confusion: NDArray[np.int64]

    @staticmethod
    def of(answers: list[Name | None], truth: list[Name], learned: list[Name]) -> Evaluation:
        table = Classes()
        table.add([*truth, *learned])
        count = len(table)
        numbers = table.numbers(answers)
        numbers = np.where(numbers < 0, count, numbers)
        targets = table.numbers(truth)
        full = metrics.confusion_matrix(numbers, targets, count + 1)[:count]
        per_class = metrics.accuracy_per_class(full)
        tested = sorted(set(targets.tolist()))
        seen = [number for number in table.numbers(learned).tolist() if number in tested]
        return Evaluation(
            len(truth),
            metrics.accuracy(numbers, targets),
            metrics.accuracy_on(seen, numbers, targets) if seen else 0.0,
            {table.known[number]: float(per_class[number]) for number in tested},
            table.known,
            full,
        )
