"""From sums to answers. The discriminant of a state is made once, when somebody first asks for an answer, and kept.

    in whole numbers   engine/discriminant.py, the law's section 13
    in float64         the same rule, to compare with

    A = S + lambda D,   W_c = A^-1 (m'_c - mu),   b_c = -1/2 (m'_c + mu) . W_c,   answer = argmax_c W_c . x + b_c
    m'_c = mu + (m_c - mu) n_c / (n_c + 8)

lambda = min(1, d / 4n) for d numbers and n pictures, at least 1/1024 (docs/exact.md has how it was chosen).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitreplay.classes import Classes, Name
from bitreplay.engine import native_sums
from bitreplay.engine.arithmetic.fixedpoint import Multiplier, divide_each, round_shift, wide
from bitreplay.engine.arithmetic.softmax import LOGIT_POINT
from bitreplay.engine.discriminant import shrinkage
from bitreplay.engine.shrunk_means import PICTURES, shrunk_means
from bitreplay.engine.sums import Sums
from bitreplay.prediction import probabilities

# A logit so far below the best has a probability of 0.
FAR = 32 << LOGIT_POINT


class Discriminant(Protocol):
    """`scores` tell classes apart; `logits` are their logarithms of probabilities, for prediction.probabilities."""

    def scores(self, x: NDArray[np.int8]) -> NDArray: ...
    def logits(self, x: NDArray[np.int8]) -> NDArray: ...


Rule = Callable[[Sums, Sequence[int]], Discriminant]


class InWholeNumbers:
    def __init__(self, sums: Sums, lengths: Sequence[int]) -> None:
        self._solution = shrunk_means(sums, native_sums.solve(sums, lengths, shrinkage))

    def scores(self, x: NDArray[np.int8]) -> NDArray[np.int64]:
        return native_sums.scores(self._solution, x)

    def logits(self, x: NDArray[np.int8]) -> NDArray[np.int64]:
        """16 bits behind the point, 0 for the best class, at least -FAR."""
        scores = self.scores(x)
        below = scores.max(axis=1, keepdims=True) - scores  # < 2^54
        unit = self._solution.pictures * Fraction(2) ** (self._solution.exponent + LOGIT_POINT)
        reach = int(FAR / unit) + 1
        drop = max(reach.bit_length() - 31, 0)
        scale = Multiplier.of(unit * 2**drop)
        return -round_shift((np.minimum(below, min(reach, 1 << 62)) >> drop) * scale.mantissa, scale.shift)


class InFloat64:
    def __init__(self, sums: Sums, lengths: Sequence[int]) -> None:
        n, d = sums.pictures, sums.numbers
        lower = np.zeros((d, d))
        lower[np.tril_indices(d)] = sums.products
        means = sums.class_sums / sums.counts[:, None]
        matrix = lower + np.tril(lower, -1).T - means.T @ sums.class_sums
        matrix /= n
        top, bottom = shrinkage(n, d, sums.classes, d)
        end = 0
        for length in lengths:
            places, end = np.arange(end, end + length), end + length
            mean = matrix[places, places].mean()
            matrix[places, places] += mean * top / bottom if mean > 0 else 1.0
        middle = divide_each(wide(sums.class_sums).sum(axis=0), n)
        drawn = middle + (means - middle) * (sums.counts / (sums.counts + PICTURES))[:, None]
        self._weights = np.linalg.solve(matrix, (drawn - middle).T)
        self._biases = -0.5 * ((drawn + middle).T * self._weights).sum(axis=0)

    def scores(self, x: NDArray[np.int8]) -> NDArray[np.float64]:
        return x.astype(np.float64) @ self._weights + self._biases

    def logits(self, x: NDArray[np.int8]) -> NDArray[np.float64]:
        scores = self.scores(x)
        return scores - scores.max(axis=1, keepdims=True)


class DiscriminantPredictor:
    """`names` are the classes of `sums`, in order: the first of equal scores wins."""

    def __init__(self, names: Sequence[Name], sums: Sums, lengths: Sequence[int], rule: Rule) -> None:
        self.labels = list(names)
        self._classes = Classes(names)
        self._sums, self._lengths, self._rule = sums, lengths, rule
        self._made: Discriminant | None = None
        self._making = Lock()

    def names(self, latents: NDArray[np.int8], unknown: Fraction) -> NDArray:
        return self._classes.named(self._discriminant().scores(latents).argmax(axis=1))

    def probabilities(self, latents: NDArray[np.int8]) -> NDArray[np.float64]:
        return probabilities.probabilities(self._discriminant().logits(latents)) / 2.0**probabilities.POINT

    def _discriminant(self) -> Discriminant:
        with self._making:
            if self._made is None:
                self._made = self._rule(self._sums, self._lengths)
            return self._made
