"""What answers: an immutable copy of what was learned, made after each change, for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitreplay.learning.classes import Classes, Name
from bitreplay.parts.part import Names
from bitreplay.prediction import novelty, probabilities


class Predictor(Protocol):
    """`labels` are the classes that can be answered; there is at least one when the others are called."""

    @property
    def labels(self) -> Sequence[Name]: ...
    def names(self, latents: NDArray, unknown: Fraction) -> NDArray:
        """The class of each sample; None where it is stranger than all but a share `unknown` of what was learned."""
        ...

    def probabilities(self, latents: NDArray) -> NDArray[np.float64]:
        """Probabilities (n, labels)."""
        ...


class LogitPredictor:
    """Answers with the largest logit. `seen` marks the classes that take part; `stored` are latents to compare with."""

    def __init__(
        self, names: Names, seen: NDArray, logits: Callable[[NDArray], NDArray], stored: list[NDArray], planes: int
    ) -> None:
        self._classes, self._numbers = Classes(names), np.flatnonzero(seen)
        self._logits, self._stored, self._planes = logits, stored, planes
        self.labels = [name for number in self._numbers if (name := names[number]) is not None]

    def names(self, latents: NDArray, unknown: Fraction) -> NDArray:
        numbers = self._logits(latents).argmax(axis=1)
        if unknown and sum(map(len, self._stored)) > 1:
            is_ood = novelty.nearest(latents, self._stored, self._planes) > novelty.limit(self._among_stored, unknown)
            numbers = np.where(is_ood, -1, numbers)
        return self._classes.named(numbers)

    def probabilities(self, latents: NDArray) -> NDArray[np.float64]:
        return probabilities.probabilities(self._logits(latents))[:, self._numbers] / 2.0**probabilities.POINT

    @cached_property
    def _among_stored(self) -> NDArray[np.int64]:
        """The distances between stored samples."""
        return novelty.stored_distances(self._stored, self._planes)
