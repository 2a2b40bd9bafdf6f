"""How long a vector is under the covariance that was learned: docs/law.md section 14, "Lengths".

    |y|^2 = y^T A^-1 y = n 2^f |L^-1 E^-1 y|^2,      n A 2^f = E L L^T E, E the powers of two that scale it

y are integers, |y_i| <= 254: a picture less the middle of all, or signs. The factor is that of discriminant.py,
kept; a length costs d^2 products. This is the reference; core/src/sums/ood.cc does the same.

    factor = factored(sums, parts=[512, 512])
    squares, exponents = lengths(factor, y)           |y|^2 = squares n 2^(f + exponent), f = factor.point
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Int64, bit_length, wide
from bitreplay.engine.discriminant import (
    MEAN_BITS,
    Lambda,
    Solution,
    factor_of,
    forward_fitting,
    middle_of,
    solve_factored,
)
from bitreplay.engine.shrinkage import EXACT
from bitreplay.engine.sums import Sums

LARGEST = 254


@dataclass(frozen=True)
class Factor:
    """rows      (d (d + 1) / 2,) int32, the lower triangle of L by rows, 30 bits behind the point
    halves, centre   (d,) int32: the powers of two of E, the middle of all pictures
    ridges    what each part's diagonal was raised by, in the unit of n A 2^point
    dropped_features  rows of L that are 0
    """

    rows: NDArray[np.int32]
    halves: NDArray[np.int32]
    centre: NDArray[np.int32]
    parts: tuple[int, ...]
    ridges: tuple[int, ...]
    point: int
    pictures: int
    dropped_features: int

    @property
    def n_features(self) -> int:
        return len(self.halves)


def factor_bytes(n_features: int) -> int:
    """What a factor takes."""
    return 4 * (n_features * (n_features + 1) // 2 + 2 * n_features)


def solved(sums: Sums, parts: Sequence[int], shrink: Lambda = EXACT) -> tuple[Solution, Factor]:
    """The discriminant, and the factor of the sums' covariance, which is made once. ValueError without a picture, or if
    they cannot be the sums of pictures."""
    lower = factor_of(sums, parts, shrink)
    return solve_factored(sums, lower), Factor(
        lower.rows[np.tril_indices(sums.n_features)].astype(np.int32),
        lower.halves.astype(np.int32),
        middle_of(sums).astype(np.int32),
        tuple(parts),
        lower.ridges,
        lower.point,
        sums.pictures,
        lower.dropped_features,
    )


def lengths(factor: Factor, y: NDArray[np.int16]) -> tuple[Int64, Int64]:
    """The squares' sum of L^-1 E^-1 y for each vector, at most 2^60, and the power of two that belongs to it."""
    rows = np.zeros((factor.n_features, factor.n_features), np.int64)
    rows[np.tril_indices(factor.n_features)] = factor.rows
    means, halves = wide(y) << MEAN_BITS, wide(factor.halves)
    top = (bit_length(means) - halves).max(axis=1)
    _, squares, room = forward_fitting(rows, means, halves, top)
    return squares, 2 * (top - room - MEAN_BITS)


def about_the_middle(factor: Factor, x: NDArray[np.int8]) -> NDArray[np.int16]:
    """Pictures less the middle of all."""
    return (wide(x) - wide(factor.centre)).astype(np.int16)
