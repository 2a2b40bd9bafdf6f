"""Whether integers can be the sums of pictures: docs/law.md section 13, "Possible".

Of pictures x with integers |x_i| <= 127, for counts n_c, class sums s_c and products G, with q = floor(s_ci / n_c)
and r = s_ci - q n_c (integers of the sum s have the least squares where they are q and q + 1):

    |s_c| <= 127 n_c,   sum over c of (s_ci q + q r + r) <= G_ii <= 127^2 n,   |G_ij| <= sqrt(G_ii G_jj)      possible
    the products of classes, where they are kept, are those of pictures and add up to G                       possible
    G - sum_c s_c s_c^T / n_c has no negative eigenvalue, within rounding                                     has_factor

A class that was forgotten may have left its scatter in G: then squares have no bound but 127^2 (2^31 - 1), and products
that of all squares together and 127^2 n. Version 0.2.0 cut products off when it forgot, and what was cut
off need not have a factor.

What pictures leave is possible, whatever was learned, unlearned, forgotten and merged before: each of these rules holds
for what remains if it held before. What was never learned breaks them sooner or later, not always at once.

This is the reference; native_sums.py has the same functions, faster.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Int64, wide
from bitreplay.engine.discriminant import cholesky, mean_of, unit_scale, within_classes
from bitreplay.engine.sums import LARGEST, MAX_PICTURES, Sums, diagonal

ROOT_BITS = 8  # behind the point of a square root
LITTLE = 1024


def possible(sums: Sums) -> bool:
    """Of sums whose types and shapes are right."""
    if sums.class_products is not None:
        rows = zip(sums.counts[:, None], sums.class_sums[:, None], sums.class_products, strict=True)
        total = sums.class_products.sum(axis=0, dtype=np.int64)
        if not np.array_equal(total, sums.products) or not all(possible(Sums(*row)) for row in rows):
            return False
    squares = wide(sums.products[diagonal(sums.n_features)])
    if not possible_rows(sums.counts, sums.class_sums, squares, sums.forgot):
        return False
    bound = sums.bound
    if sums.products.min(initial=0) < -bound or sums.products.max(initial=0) > bound:
        return False
    if sums.forgot:
        return True
    roots = np.array([_root_above(int(square)) for square in squares], np.int64)
    for i in range(sums.n_features):
        row = np.abs(wide(sums.products[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]))
        if ((row << 2 * ROOT_BITS) > roots[i] * roots[: i + 1]).any():
            return False
    return True


def possible_rows(counts: Int64, class_sums: NDArray, squares: NDArray, forgot: bool) -> bool:
    """As far as counts, class sums and squares tell; `forgot` as in Sums."""
    s, g, bounds = wide(class_sums), wide(squares), LARGEST * counts[:, None]
    if (counts < 0).any() or (s > bounds).any() or (s < -bounds).any():
        return False
    limit = MAX_PICTURES if forgot else int(counts.sum())
    return bool((_least_squares(counts, s) <= g).all() and (g <= LARGEST**2 * limit).all())


def contain(sums: Sums, part: Sums, rows: NDArray[np.int32], forgot: bool) -> bool:
    """Whether `sums` can be those of the part's pictures and of more; class c of them is class rows[c] of the part, or
    not in it (-1). `forgot`: a class was forgotten since."""
    counts, class_sums, own = sums.counts.copy(), wide(sums.class_sums).copy(), rows >= 0
    counts[own] -= part.counts[rows[own]]
    class_sums[own] -= part.class_sums[rows[own]]
    squares = diagonal(sums.n_features)
    return possible_rows(counts, class_sums, wide(sums.products[squares]) - part.products[squares], forgot)


def has_factor(sums: Sums) -> bool:
    """Whether the scatter within classes, its diagonal raised by a little, has a factor. Sums that are `possible`.

    Each entry of the scatter, with its point, is off by at most n / 4, each of the factor's squares by 2^-29: together
    less than what the diagonal is raised by, so that sums of pictures have a factor without a row that is left out.
    """
    scatter, _ = within_classes(sums)
    diagonal_of = np.maximum(np.diagonal(scatter), 0)
    d = sums.n_features
    raised = mean_of(diagonal_of) // LITTLE + sums.pictures * d // 4 + 1
    scatter[np.arange(d), np.arange(d)] = diagonal_of + diagonal_of // LITTLE + raised
    return bool(np.diagonal(cholesky(unit_scale(scatter)[0])).all())


def _least_squares(counts: Int64, s: Int64) -> Int64:
    """Of integers with these sums, for all classes together."""
    n = np.maximum(counts, 1)[:, None]
    q = s // n
    r = s - q * n
    return (s * q + q * r + r).sum(axis=0)


def _root_above(square: int) -> int:
    """The square root, 8 bits behind the point, rounded up."""
    scaled = square << 2 * ROOT_BITS
    return isqrt(scaled - 1) + 1 if scaled else 0
