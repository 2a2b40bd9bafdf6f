"""From class statistics to answers. The discriminant of a state is computed once, for the first prediction.

    in integers   engine/discriminant.py and engine/ood.py, the law's sections 13 and 14
    in float64         the same rule, to compare with

    A = S + lambda D,   W_c = A^-1 (m'_c - mu),   b_c = -1/2 (m'_c + mu) . W_c,   answer = argmax_c W_c . x + b_c
    m'_c = mu + (m_c - mu) n_c / (n_c + 8)
    probabilities = softmax of the scores / T,   unknown where |x - mu|^2 / 8 - the best score + 3/4 s_0 > c D

lambda = min(1, d / 4n) for d numbers and n pictures, at least 1/1024 (docs/exact.md has how it was chosen). T and D
follow from the sums (engine/ood.py); they are made when probabilities or "unknown" are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import native_sums, ood
from bitreplay.engine.arithmetic.fixedpoint import Multiplier, divide_each, round_shift, wide
from bitreplay.engine.arithmetic.softmax import LOGIT_POINT
from bitreplay.engine.discriminant import shrinkage
from bitreplay.engine.mahalanobis import about_the_middle
from bitreplay.engine.ood import OodModel
from bitreplay.engine.shrunk_means import PICTURES, shrunk_means
from bitreplay.engine.sums import Sums
from bitreplay.learning.classes import Classes, Name
from bitreplay.prediction import probabilities
from bitreplay.prediction.confusions import Pair, pairs

# A logit so far below the best has a probability of 0; REACH is as far before the temperature, below 1024, divides it.
FAR = 32 << LOGIT_POINT
REACH = FAR << 10


class Discriminant(Protocol):
    """`scores` tell classes apart; `logits` are their logarithms of probabilities, for prediction.probabilities;
    `is_ood` are pictures to be called unknown, a share of the known ones among them; `temperature` divides scores;
    `weights` are W in float64, (classes, features)."""

    def scores(self, x: NDArray[np.int8]) -> NDArray: ...
    def logits(self, x: NDArray[np.int8]) -> NDArray: ...
    def is_ood(self, x: NDArray[np.int8], share: Fraction) -> NDArray[np.bool_]: ...
    def temperature(self) -> float: ...
    def weights(self) -> NDArray[np.float64]: ...


Rule = Callable[[Sums, Sequence[int]], Discriminant]


class IntegerDiscriminant:
    def __init__(self, sums: Sums, lengths: Sequence[int]) -> None:
        self._sums = sums
        solution, self._factor = native_sums.solved(sums, lengths, shrinkage)
        self._solution = shrunk_means(sums, solution)
        self._made: OodModel | None = None
        self._making = Lock()

    def scores(self, x: NDArray[np.int8]) -> NDArray[np.int64]:
        return native_sums.scores(self._solution, x)

    def logits(self, x: NDArray[np.int8]) -> NDArray[np.int64]:
        """Logits with 16 fractional bits, 0 for the best class, at least -FAR."""
        scores = self.scores(x)
        below = scores.max(axis=1, keepdims=True) - scores  # < 2^54
        unit = self._solution.pictures * Fraction(2) ** (self._solution.exponent + LOGIT_POINT)
        reach = int(REACH / unit) + 1
        drop = max(reach.bit_length() - 31, 0)
        scale = Multiplier.of(unit * 2**drop)
        plain = round_shift((np.minimum(below, min(reach, 1 << 62)) >> drop) * scale.mantissa, scale.shift)
        return -np.minimum(divide_each(plain << ood.POINT, self._expected().temperature), FAR)

    def is_ood(self, x: NDArray[np.int8], share: Fraction) -> NDArray[np.bool_]:
        factor, model = self._factor, self._expected()
        away = native_sums.lengths(factor, about_the_middle(factor, x))
        best = self.scores(x).max(axis=1)
        middles = native_sums.scores(ood.as_solution(model, self._solution), x)[:, 0]
        return ood.ood_score(factor, *away, self._solution, best, middles) > ood.limit(model, share)

    def weights(self) -> NDArray[np.float64]:
        return self._solution.weights.astype(np.float64) * (self._solution.pictures * 2.0**self._solution.exponent)

    def temperature(self) -> float:
        return self._expected().temperature / (1 << ood.POINT)

    def _expected(self) -> OodModel:
        with self._making:
            if self._made is None:
                self._made = native_sums.expected(self._sums, self._solution, self._factor)
            return self._made


class FloatDiscriminant:
    def __init__(self, sums: Sums, lengths: Sequence[int]) -> None:
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
        self._middle = divide_each(wide(sums.class_sums).sum(axis=0), n)
        away = (means - self._middle) * (sums.counts / (sums.counts + PICTURES))[:, None]
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

    def __init__(self, names: Sequence[Name], sums: Sums, lengths: Sequence[int], rule: Rule) -> None:
        self.labels = list(names)
        self._classes = Classes(names)
        self._sums, self._lengths, self._rule = sums, lengths, rule
        self._made: Discriminant | None = None
        self._making = Lock()

    def names(self, latents: NDArray[np.int8], unknown: Fraction) -> NDArray:
        discriminant = self._discriminant()
        n_features = discriminant.scores(latents).argmax(axis=1)
        if unknown:
            n_features = np.where(discriminant.is_ood(latents, unknown), -1, n_features)
        return self._classes.named(n_features)

    def probabilities(self, latents: NDArray[np.int8]) -> NDArray[np.float64]:
        return probabilities.probabilities(self._discriminant().logits(latents)) / 2.0**probabilities.POINT

    def confusions(self, limit: int) -> list[Pair]:
        discriminant = self._discriminant()
        return pairs(self.labels, self._sums, discriminant.weights(), discriminant.temperature(), limit)

    def _discriminant(self) -> Discriminant:
        with self._making:
            if self._made is None:
                self._made = self._rule(self._sums, self._lengths)
            return self._made
