"""From class statistics to answers. The discriminant of a state is computed once, for the first prediction.

    in integers   engine/native_discriminant.py, the law's sections 13 and 14
    in float64    the same rule, to compare with

    A = S + lambda D,   W_c = A^-1 (m'_c - mu),   b_c = -1/2 (m'_c + mu) . W_c,   answer = argmax_c W_c . x + b_c
    m'_c = mu + (m_c - mu) n_c / (n_c + k)
    probabilities = softmax of the scores / T,   unknown where |x - mu|^2 / 8 - the best score + 3/4 s_0 > c D

lambda = min(1, d / 4n) for d features and n pictures, at least 1/1024, and k = 8 (docs/exact.md has how they were
chosen), unless a projection has a shrinkage of its own (engine/shrinkage.py). T and D follow from the sums
(engine/ood.py); they are made when probabilities or "unknown" are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import ood
from bitreplay.engine.discriminant import middle_of
from bitreplay.engine.native_discriminant import discriminant_of
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.sums import Sums
from bitreplay.learning.classes import Classes, Name
from bitreplay.prediction import probabilities
from bitreplay.prediction.confusions import Pair, away_from, pairs


class Discriminant(Protocol):
    """`labels` are class numbers, -1 for pictures to be called unknown, a share of the known ones among them;
    `probabilities` have 30 bits behind the point; `temperature` divides scores; `weights` are W in float64, (classes,
    features)."""

    def labels(self, x: NDArray[np.int8], share: Fraction = ...) -> NDArray[np.int64]: ...
    def probabilities(self, x: NDArray[np.int8]) -> NDArray[np.int64]: ...
    def temperature(self) -> float: ...
    def weights(self) -> NDArray[np.float64]: ...


Rule = Callable[[Sums, Sequence[int], Shrinkage], Discriminant]


class IntegerDiscriminant:
    def __init__(self, sums: Sums, lengths: Sequence[int], shrinkage: Shrinkage = EXACT) -> None:
        self._rule = discriminant_of(sums, lengths, shrinkage)
        self.labels, self.probabilities = self._rule.labels, self._rule.probabilities

    def temperature(self) -> float:
        return self._rule.temperature / (1 << ood.POINT)

    def weights(self) -> NDArray[np.float64]:
        solution = self._rule.solution
        return solution.weights.astype(np.float64) * (solution.pictures * 2.0**solution.exponent)


class FloatDiscriminant:
    def __init__(self, sums: Sums, lengths: Sequence[int], shrinkage: Shrinkage = EXACT) -> None:
        n, d = sums.pictures, sums.n_features
        lower = np.zeros((d, d))
        lower[np.tril_indices(d)] = sums.products
        means = sums.class_sums / sums.counts[:, None]
        matrix = lower + np.tril(lower, -1).T - means.T @ sums.class_sums
        matrix /= n
        top, bottom = shrinkage(n, d, sums.classes, d)
        ridge, end = np.zeros(d), 0
        for length in lengths:
            places, end = np.arange(end, end + length), end + length
            mean = matrix[places, places].mean()
            ridge[places] = mean * top / bottom if mean > 0 else 1.0
        matrix[np.arange(d), np.arange(d)] += ridge
        self._middle = middle_of(sums)
        away = away_from(self._middle, sums, shrinkage)
        self._matrix, self._ridge, self._pictures = matrix, ridge, n
        self._weights = np.linalg.solve(matrix, away.T)
        self._biases = -0.5 * ((away + 2 * self._middle).T * self._weights).sum(axis=0)
        share = sums.counts / n
        self._mean_weights, mean = self._weights @ share, away.T @ share
        self._mean_length = float(mean @ self._mean_weights)
        self._separation = float(share @ (away.T * self._weights).sum(axis=0)) - self._mean_length

    def scores(self, x: NDArray[np.int8]) -> NDArray[np.float64]:
        return x.astype(np.float64) @ self._weights + self._biases

    def logits(self, x: NDArray[np.int8]) -> NDArray[np.float64]:
        scores = self.scores(x)
        return (scores - scores.max(axis=1, keepdims=True)) / self.temperature()

    def probabilities(self, x: NDArray[np.int8]) -> NDArray[np.int64]:
        return probabilities.probabilities(self.logits(x))

    def labels(self, x: NDArray[np.int8], share: Fraction = Fraction(0)) -> NDArray[np.int64]:
        labels = self.scores(x).argmax(axis=1)
        return np.where(self.is_ood(x, share), -1, labels) if share else labels

    def is_ood(self, x: NDArray[np.int8], share: Fraction) -> NDArray[np.bool_]:
        away = x.astype(np.float64) - self._middle
        lengths = (away * np.linalg.solve(self._matrix, away.T).T).sum(axis=1)
        fitted, ratio = self._fitted()
        percents, thousandths = zip(*ood.CURVE, strict=True)
        part = np.interp(100 * float(share), percents, thousandths) / 1000
        middles = away @ self._mean_weights - self._mean_length / 2
        return lengths / 8 - self.scores(x).max(axis=1) + 0.75 * middles > part * fitted * ratio**2

    def weights(self) -> NDArray[np.float64]:
        return self._weights.T

    def temperature(self) -> float:
        return max(1.0, 3 / 4 * np.sqrt(self._separation * self._fitted()[1]))

    def _fitted(self) -> tuple[float, float]:
        """F, with the trace itself where the law has an estimate, and n / (n - F)."""
        inverse = np.linalg.inv(self._matrix)
        fitted = min(len(inverse) - float((self._ridge * np.diagonal(inverse)).sum()), 15 / 16 * self._pictures)
        return fitted, self._pictures / (self._pictures - fitted)


class DiscriminantPredictor:
    """`names` are the classes of `sums`, in order: the first of equal scores wins."""

    def __init__(
        self, names: Sequence[Name], sums: Sums, lengths: Sequence[int], rule: Rule, shrinkage: Shrinkage = EXACT
    ) -> None:
        self.labels = list(names)
        self._classes = Classes(names)
        self._sums, self._lengths, self._rule, self._shrinkage = sums, lengths, rule, shrinkage
        self._made: Discriminant | None = None
        self._making = Lock()

    def names(self, latents: NDArray[np.int8], unknown: Fraction) -> NDArray:
        return self._classes.named(self._discriminant().labels(latents, unknown))

    def probabilities(self, latents: NDArray[np.int8]) -> NDArray[np.float64]:
        return self._discriminant().probabilities(latents) / 2.0**probabilities.POINT

    def confusions(self, limit: int) -> list[Pair]:
        discriminant = self._discriminant()
        told = (discriminant.weights(), discriminant.temperature(), self._shrinkage)
        return pairs(self.labels, self._sums, *told, limit)

    def _discriminant(self) -> Discriminant:
        with self._making:
            if self._made is None:
                self._made = self._rule(self._sums, self._lengths, self._shrinkage)
            return self._made
