"""Means of classes with few pictures, drawn towards the middle of all: docs/law.md section 13, "Shrunk means".

    m'_c = mu + f (m_c - mu),   f = n_c / (n_c + k)        W'_c = f W_c,   b'_c = f (b_c + 1/2 (1 - f) (m_c - mu) . W_c)

k is 8 unless the shrinkage says otherwise (shrinkage.py).

The mean of few pictures lies further from all others than the class does, by their noise, and its bias would punish the
class for that: without this, a class of five pictures among classes of fifty is hardly ever answered.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Int64, divide_each, round_shift, wide
from bitreplay.engine.discriminant import Solution, middle_of
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.sums import Sums

REST = 16


def shrunk_means(sums: Sums, solution: Solution, shrinkage: Shrinkage = EXACT) -> Solution:
    """The solution of these sums with shrunk means. A class without pictures stays as it is."""
    present = np.flatnonzero(sums.counts)
    counts, k = sums.counts[present], shrinkage.pictures
    weights, biases = wide(solution.weights[present]), solution.biases[present]
    biases = biases + divide_each(k * apart(sums, solution), 2 * (counts + k))
    result = replace(solution, weights=solution.weights.copy(), biases=solution.biases.copy())
    result.weights[present] = drawn(weights, counts[:, None], k)
    result.biases[present] = drawn(biases, counts, k)
    return result


def apart(sums: Sums, solution: Solution) -> Int64:
    """(m_c - mu) . W_c of the classes that have pictures, in the weights' unit; below 2^59."""
    present = np.flatnonzero(sums.counts)
    counts, weights = sums.counts[present], wide(solution.weights[present])
    away = wide(sums.class_sums[present]) - counts[:, None] * middle_of(sums)
    quotients = divide_each(away, counts[:, None])  # |whole| < 2^8, |weights| <= 2^30, 2^13 numbers: sums below 2^51
    rest = divide_each((away - quotients * counts[:, None]) << REST, counts[:, None])  # |rest| <= 2^15: sums below 2^58
    return (weights * quotients).sum(axis=1) + round_shift((weights * rest).sum(axis=1), REST)


def drawn(values: Int64, counts: Int64, k: int) -> Int64:
    """values n / (n + k), rounded; |values| < 2^60, k <= 8."""
    return values - divide_each(k * values, counts + k)
