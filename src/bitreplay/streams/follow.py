"""Follow a learner along a stream: it learns each experience and is tested after it on the whole test set.

    history = History(follow(learner, new_classes(data, [2] * 5, rng=0), data.test_images, data.test_labels))
    print([step.evaluation.accuracy for step in history.steps], history.forgetting)

The backbone is frozen, so the latents of the test pictures are computed once. Whoever has latents already gives
`Latents(learner.encode(images))` in the place of images.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitreplay.arguments import short_repr
from bitreplay.evaluation import metrics as measures
from bitreplay.evaluation.evaluation import Evaluation
from bitreplay.learner import Learner
from bitreplay.learning.classes import Name, names_of
from bitreplay.learning.progress import Progress, Watch
from bitreplay.learning.reports import Learned
from bitreplay.learning.samples import Latents
from bitreplay.streams.scenario import Experience

Stream = Iterable[tuple[Any, Any] | Experience]


@dataclass(frozen=True)
class Step:
    """One experience: its number as the learner counts, the names of its classes, the test after it; how many pictures
    it had, and the seconds that learning took."""

    number: int
    classes: tuple[Name, ...]
    evaluation: Evaluation
    pictures: int = 0
    seconds: float = 0.0


class History:
    """The steps of a stream. Forgetting and transfer compare experiences, so each should bring classes of its own.

    >>> first = Evaluation.of(["pear", "pear"], ["pear", "plum"], ["pear"])
    >>> second = Evaluation.of(["plum", "plum"], ["pear", "plum"], ["pear", "plum"])
    >>> History([Step(0, ("pear",), first), Step(1, ("plum",), second)]).forgetting
    1.0
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = tuple(steps)

    @property
    def table(self) -> np.ndarray:
        """As metrics.experience_table."""
        return measures.experience_table(
            [step.classes for step in self.steps], [step.evaluation.per_class for step in self.steps]
        )

    @property
    def incremental_accuracy(self) -> float:
        """Average incremental accuracy (Rebuffi et al., 2017): on the classes seen so far, mean over the steps.

        >>> first = Evaluation.of(["pear", "pear"], ["pear", "plum"], ["pear"])
        >>> second = Evaluation.of(["plum", "plum"], ["pear", "plum"], ["pear", "plum"])
        >>> History([Step(0, ("pear",), first), Step(1, ("plum",), second)]).incremental_accuracy
        0.75
        """
        return float(np.mean([step.evaluation.seen_accuracy for step in self.steps])) if self.steps else 0.0

    @property
    def forgetting(self) -> float:
        return measures.forgetting(self.table)

    @property
    def backward_transfer(self) -> float:
        return measures.backward_transfer(self.table)


def follow(
    learner: Learner, stream: Stream, test_images: Any, test_labels: Any,
    progress: Callable[[Progress], None] | None = None,
    metrics: Callable[[Step], None] | Sequence[Callable[[Step], None]] = (),
    learn: Callable[[Any, Any], Learned] | None = None,
) -> Iterator[Step]:  # fmt: skip
    """Learn each (images, labels) of any iterable, and give a Step after each; before that every one of `metrics` hears
    of it, such as a writer of bitreplay.writers. `learn` changes the learner in another way, such as on a cluster."""
    listeners = _functions(metrics)
    latents = test_images.values if isinstance(test_images, Latents) else learner.encode(test_images)
    truth = names_of(test_labels)
    if len(truth) != len(latents):
        raise ValueError(f"There must be as many test labels as pictures, got {len(truth)} and {len(latents)}.")
    if not isinstance(stream, Iterable):
        raise ValueError(f"A stream must be an iterable of (images, labels), got {type(stream).__name__}.")
    for item in stream:
        if not isinstance(item, Experience) and not (isinstance(item, tuple | list) and len(item) == 2):
            raise ValueError(f"A stream must give pairs (images, labels), got {type(item).__name__}.")
        images, labels = item
        labels = list(labels) if isinstance(labels, Iterator) else labels  # it can be read once
        start = time.perf_counter()
        if learn is not None:
            learned = learn(images, labels)
        elif isinstance(images, Latents):
            learned = learner.learn_encoded(images.values, labels, Watch(progress))
        else:
            learned = learner.learn(images, labels, progress=progress)
        seconds = time.perf_counter() - start
        evaluation = learner.evaluate_encoded(latents, truth)
        step = Step(learned.experience, tuple(dict.fromkeys(names_of(labels))), evaluation, learned.pictures, seconds)
        for listener in listeners:
            listener(step)
        yield step


def _functions(metrics: object) -> Sequence[Callable[[Step], None]]:
    found = [metrics] if callable(metrics) else metrics
    if not isinstance(found, Sequence) or not all(map(callable, found)):
        raise ValueError(f"metrics must be a function or a list of them, got {short_repr(metrics)}.")
    return found
