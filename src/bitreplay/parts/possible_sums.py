"""Whether whole numbers can be the sums of pictures, as far as it can be told in little time and memory.

Of pictures x with |x_i| <= 127, for counts n_c, class sums s_c and squares G_ii = sum of x_i^2:

    n_c >= 0,   |s_c| <= 127 n_c,   0 <= G_ii <= 127^2 n,   sum over c of s_ci^2 / n_c <= G_ii       (Cauchy-Schwarz)

What is taken away from sums without having been in them breaks one of these sooner or later; not always at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Int64, divide_each, wide
from bitreplay.engine.sums import LARGEST, Sums, diagonal


def possible(counts: Int64, class_sums: NDArray, squares: NDArray, rounded: bool) -> bool:
    """`rounded`: a class was forgotten, so that its share of the squares was taken out rounded."""
    s, g = wide(class_sums), wide(squares)
    if (counts < 0).any() or (np.abs(s) > LARGEST * counts[:, None]).any():
        return False
    if (g < 0).any() or (g > LARGEST**2 * counts.sum()).any():
        return False
    return rounded or bool((_least_squares(counts, s) <= g).all())


def _least_squares(counts: Int64, s: Int64) -> Int64:
    """The sum over c of floor(s_c^2 / n_c). With s = q n + r, |r| <= n / 2 < 2^30, it is s q + q r + r^2 / n."""
    n = np.maximum(counts, 1)[:, None]
    q = divide_each(s, np.broadcast_to(n, s.shape))
    r = s - q * n
    return (s * q + q * r + r * r // n).sum(axis=0)


def squares(sums: Sums) -> NDArray:
    return sums.products[diagonal(sums.numbers)]
