"""Naive fine-tuning, a baseline: tail and head go on learning; nothing is stored and nothing consolidated."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.strategies.gradient import Gradient


class Naive(Gradient):
    name: ClassVar[str] = "naive"
    title: ClassVar[str] = "naive"
    gain: ClassVar[Fraction] = Fraction(40)

    def begin(self, present: NDArray[np.int64]) -> None:
        """The head goes on with what it has."""
        self.tail.load_head(self.tail.head_weights, ((present > 0) | (self.head.past > 0)).astype(np.uint8))

    def end(self, present: NDArray[np.int64]) -> None:
        self.head.count(present)
