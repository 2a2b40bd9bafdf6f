"""Follow a learner along a stream: it learns each experience and is tested after it on the whole test set.

    history = History(follow(learner, new_classes(data, [2] * 5, rng=0), data.test_images, data.test_labels))
    print([step.evaluation.accuracy for step in history.steps], history.forgetting)

The backbone is frozen, so the latents of the test images are computed once. `Latents(learner.encode(images))` may stand
in place of images.
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
    """One experience of a stream.

    Attributes
    ----------
    number : int
        Its number, as the learner counts.
    classes : tuple
        The classes in it.
    evaluation : Evaluation
        The test after it.
    pictures : int
        Images that were learned.
    seconds : float
        The time that learning took.

    Examples
    --------
    >>> Step(0, ("pear",), Evaluation.of(["pear"], ["pear"], ["pear"])).evaluation.accuracy
    1.0
    """

    number: int
    classes: tuple[Name, ...]
    evaluation: Evaluation
    pictures: int = 0
    seconds: float = 0.0


class History:
    """The steps of a stream. Forgetting and transfer compare experiences, so each should bring classes of its own.

    Parameters
    ----------
    steps : iterable of Step
        What `follow` yields.

    Examples
    --------
    >>> first = Evaluation.of(["pear", "pear"], ["pear", "plum"], ["pear"])
    >>> second = Evaluation.of(["plum", "plum"], ["pear", "plum"], ["pear", "plum"])
    >>> History([Step(0, ("pear",), first), Step(1, ("plum",), second)]).forgetting
    1.0
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = tuple(steps)

    @property
    def table(self) -> np.ndarray:
        """Accuracies by experience, as `metrics.experience_table` returns them."""
        return measures.experience_table(
            [step.classes for step in self.steps], [step.evaluation.per_class for step in self.steps]
        )

    @property
    def incremental_accuracy(self) -> float:
        """Average incremental accuracy (Rebuffi et al., 2017): on the classes seen so far, mean over the steps.

        Examples
        --------
        >>> first = Evaluation.of(["pear", "pear"], ["pear", "plum"], ["pear"])
        >>> second = Evaluation.of(["plum", "plum"], ["pear", "plum"], ["pear", "plum"])
        >>> History([Step(0, ("pear",), first), Step(1, ("plum",), second)]).incremental_accuracy
        0.75
        """
        return float(np.mean([step.evaluation.seen_accuracy for step in self.steps])) if self.steps else 0.0

    @property
    def forgetting(self) -> float:
        """How far accuracies fell from their best (`metrics.forgetting`)."""
        return measures.forgetting(self.table)

    @property
    def backward_transfer(self) -> float:
        """How accuracies changed since they were learned (`metrics.backward_transfer`)."""
        return measures.backward_transfer(self.table)


def follow(
    learner: Learner, stream: Stream, test_images: Any, test_labels: Any,
    progress: Callable[[Progress], None] | None = None,
    metrics: Callable[[Step], None] | Sequence[Callable[[Step], None]] = (),
    learn: Callable[[Any, Any], Learned] | None = None,
) -> Iterator[Step]:  # fmt: skip
    """Learn the experiences of a stream, and test the learner after each.

    Parameters
    ----------
    learner : Learner
        It learns while the result is iterated over.
    stream : iterable of (images, labels)
        The experiences, such as `scenario.new_classes` yields them.
    test_images, test_labels
        The whole test set, as in `Learner.evaluate`.
    progress : callable, optional
        As in `Learner.learn`.
    metrics : callable or sequence of them
        Called with each `Step`, such as a writer of `bitreplay.writers`.
    learn : callable, optional
        Called with images and labels in place of `learner.learn`, such as `Cluster.learn`.

    Yields
    ------
    Step

    Raises
    ------
    ValueError
        If the stream does not have pairs, or there are not as many test labels as images.

    Examples
    --------
    >>> images = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)])
    >>> stream = [(images[:1], ["black"]), (images[1:], ["white"])]
    >>> learner = Learner.from_pretrained("react_tiny")
    >>> [step.evaluation.accuracy for step in follow(learner, stream, images, ["black", "white"])]
    [0.5, 1.0]
    """
    listeners = _functions(metrics)
    latents = test_images.values if isinstance(test_images, Latents) else learner.encode(test_images)
    truth = names_of(test_labels)
    if len(truth) != len(latents):
        raise ValueError(f"There must be as many test labels as pictures, got {len(truth)} and {len(latents)}.")
    if not isinstance(stream, Iterable):
        raise ValueError(f"A stream must be an iterable of (images, labels), got {type(stream).__name__}.")
    for item in stream:
        if not isinstance(item, Experience) and not (isinstance(item, tuple | list) and len(item) == 2):
            raise ValueError(f"A stream must yield pairs (images, labels), got {type(item).__name__}.")
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
    functions = [metrics] if callable(metrics) else metrics
    if not isinstance(functions, Sequence) or not all(map(callable, functions)):
        raise ValueError(f"metrics must be a function or a list of them, got {short_repr(metrics)}.")
    return functions
