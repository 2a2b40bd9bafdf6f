"""How far the covariance and the means of few pictures are drawn to what is expected: docs/law.md section 13.

    lambda = min(cap, factor d / n), at least 1/1024,     m'_c = mu + (m_c - mu) n_c / (n_c + k)

d features and n pictures, n_c of a class; k is `pictures`. A projection may have constants of its own
(engine/projection.py); EXACT are those of all other features.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

SMALLEST_LAMBDA = Fraction(1, 1024)
LARGEST, LARGEST_TERM = 8, 64


@dataclass(frozen=True)
class Shrinkage:
    """Called with pictures, features, classes and the length of a part of x, it is the part's lambda as (numerator,
    denominator).

    >>> [EXACT(n, 512, 3, 512) for n in (10, 1000, 10_000_000)]
    [(1, 1), (16, 125), (1, 1024)]
    """

    cap: int = 1
    factor: Fraction = Fraction(1, 4)
    pictures: int = 8

    def __post_init__(self) -> None:
        """lambda is at most 8, and 8 times a bias below 2^60 fits 63 bits."""
        fits = 1 <= self.cap <= LARGEST and 1 <= self.pictures <= LARGEST
        terms = self.factor.numerator, self.factor.denominator
        if not (fits and 1 <= min(terms) and max(terms) <= LARGEST_TERM):
            raise ValueError(
                f"a shrinkage has a cap and pictures of 1 to {LARGEST} and a factor of terms of 1 to {LARGEST_TERM}"
            )

    @property
    def terms(self) -> tuple[int, int, int, int]:
        """As the core has them: br_shrinkage."""
        return self.cap, self.factor.numerator, self.factor.denominator, self.pictures

    def __call__(self, pictures: int, n_features: int, classes: int, length: int) -> tuple[int, int]:
        share = self.factor * Fraction(n_features, pictures)
        return min(Fraction(self.cap), max(share, SMALLEST_LAMBDA)).as_integer_ratio()


EXACT = Shrinkage()
