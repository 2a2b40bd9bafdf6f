"""From sums to answers: the discriminant with shrunk means, logits and probabilities, and which pictures are unknown.

    logit_c = (s_c - max s) n 2^e / T                 scores in their unit, divided by the temperature (engine/ood.py)
    probabilities = softmax of the logits
    unknown where |x - mu|^2 / 8 - max s + 3/4 s_0 > c D

This is the reference; native_discriminant.py has the same in one call into the core, core/src/sums/discriminant.cc and
core/src/sums/answer.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import discriminant, mahalanobis, ood
from bitreplay.engine.arithmetic.fixedpoint import Int64, Multiplier, divide_each, round_shift
from bitreplay.engine.arithmetic.softmax import LOGIT_POINT, softmax
from bitreplay.engine.discriminant import Solution
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.shrunk_means import shrunk_means
from bitreplay.engine.sums import Sums

# A logit so far below the best has a probability of 0; REACH is as far before the temperature, below 1024, divides it.
FAR = 32 << LOGIT_POINT
REACH = FAR << 10


class ReferenceDiscriminant:
    """Of sums and the lengths of the parts of x. The figures of engine/ood.py are made when first asked for."""

    def __init__(self, sums: Sums, parts: Sequence[int], shrinkage: Shrinkage = EXACT) -> None:
        self._sums, self._shrinkage = sums, shrinkage
        solution, self._factor = mahalanobis.solved(sums, parts, shrinkage)
        self.solution = shrunk_means(sums, solution, shrinkage)

    @cached_property
    def _ood(self) -> ood.OodModel:
        return ood.ood(self._sums, self.solution, self._factor, mahalanobis.lengths, self._shrinkage)

    @property
    def temperature(self) -> int:
        """With 16 bits behind the point."""
        return self._ood.temperature

    def labels(self, x: NDArray[np.int8], share: Fraction = Fraction(0)) -> Int64:
        """The first class with the largest score; -1 for pictures that are unknown where `share` of those of known
        classes may be."""
        scores = discriminant.scores(self.solution, x)
        labels = scores.argmax(axis=1)
        if not share:
            return labels
        away = mahalanobis.lengths(self._factor, mahalanobis.about_the_middle(self._factor, x))
        middles = discriminant.scores(ood.as_solution(self._ood, self.solution), x)[:, 0]
        strange = ood.ood_score(self._factor, *away, self.solution, scores.max(axis=1), middles)
        return np.where(strange > ood.limit(self._ood, share), -1, labels)

    def probabilities(self, x: NDArray[np.int8]) -> Int64:
        """(pictures, classes), 30 bits behind the point."""
        return softmax(logits(self.solution, discriminant.scores(self.solution, x), self.temperature))


def logits(solution: Solution, scores: Int64, temperature: int) -> Int64:
    """Logits with 16 bits behind the point, 0 for the best class, at least -FAR."""
    below = scores.max(axis=1, keepdims=True) - scores  # < 2^54, but for classes without pictures
    unit = solution.pictures * Fraction(2) ** (solution.exponent + LOGIT_POINT)
    reach = int(REACH / unit) + 1
    drop = max(reach.bit_length() - 31, 0)
    scale = Multiplier.of(unit * 2**drop)
    plain = round_shift((np.minimum(below, min(reach, 1 << 62)) >> drop) * scale.mantissa, scale.shift)
    return -np.minimum(divide_each(plain << ood.POINT, temperature), FAR)
