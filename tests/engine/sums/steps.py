"""The steps of a discriminant in the core, one by one; native_discriminant.py makes all of them in one call.

solution = solve(sums, parts=[512])           lengths that add up to 512; ValueError if there is no picture
scores(solution, x), answers(solution, x)     (pictures, classes) int64; (pictures,) class numbers
factor = factored(sums, parts=[512])          lengths(factor, y): vectors of integers under the covariance
expected(sums, solution, factor)              what pictures that were not learned are expected to look like
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bitreplay.core.interface import br_discriminant, br_factor, br_ood, br_shrinkage, br_solution, br_sums_part
from bitreplay.engine.aligned import aligned_zeros
from bitreplay.engine.arithmetic.fixedpoint import Int64
from bitreplay.engine.discriminant import Lambda, Solution, checked_parts
from bitreplay.engine.mahalanobis import Factor
from bitreplay.engine.native_sums import done, info_of, library
from bitreplay.engine.ood import OodModel
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.sums import Sums


def native_core() -> ctypes.CDLL:
    core = library()
    assert core is not None
    return core


def solve(sums: Sums, parts: Sequence[int], shrink: Lambda = EXACT) -> Solution:
    """The discriminant of these sums. ValueError without a picture, or if they cannot be the sums of pictures."""
    core = native_core()
    given = _parts(parts, checked_parts(sums, parts, shrink))
    weights, biases = np.zeros((sums.classes, sums.n_features), np.int32), np.zeros(sums.classes, np.int64)
    solution = br_solution(weights.ctypes.data, biases.ctypes.data)
    work = aligned_zeros(core.br_sums_solve_bytes(sums.n_features, sums.classes))
    done(core.br_sums_solve(info_of(sums), given, len(given), work.ctypes.data, ctypes.byref(solution)))
    return Solution(weights, biases, int(solution.exponent), int(solution.pictures), int(solution.dropped_features))


def scores(solution: Solution, x: NDArray[np.int8]) -> Int64:
    """W_c . x + b_c, (pictures, classes) int64; ABSENT for a class without pictures."""
    core = native_core()
    classes, n_features = solution.weights.shape
    x = np.ascontiguousarray(x)
    if x.dtype != np.int8 or x.ndim != 2 or x.shape[1] != n_features:
        raise ValueError(f"Features must be int8 of shape (n, {n_features}), got {x.dtype} {x.shape}.")
    weights, biases = np.ascontiguousarray(solution.weights), np.ascontiguousarray(solution.biases)
    info = br_solution(weights.ctypes.data, biases.ctypes.data, n_features, classes)
    result = np.zeros((len(x), classes), np.int64)
    done(core.br_sums_scores(ctypes.byref(info), x.ctypes.data, len(x), result.ctypes.data))
    return result


def answers(solution: Solution, x: NDArray[np.int8]) -> Int64:
    """The class of each picture: the largest score, the first of equals."""
    return scores(solution, x).argmax(axis=1)


def factored(sums: Sums, parts: Sequence[int], shrink: Lambda = EXACT) -> Factor:
    """The factor of these sums' covariance, for `lengths`, as a discriminant keeps it. ValueError as for `solve`."""
    core = native_core()
    info, given = info_of(sums), _parts(parts, checked_parts(sums, parts, shrink))
    rule = br_discriminant(ctypes.addressof(info), ctypes.addressof(given), len(given), keeps_factor=1)
    size = sums.n_features, sums.classes
    memory = aligned_zeros(core.br_discriminant_place(rule, *size, None))
    core.br_discriminant_place(rule, *size, memory.ctypes.data)
    work = aligned_zeros(core.br_discriminant_work_bytes(*size, len(given)))
    done(core.br_discriminant_solve(rule, work.ctypes.data))
    kept, d = rule.factor, sums.n_features
    places = ((kept.rows, d * (d + 1) // 2), (kept.halves, d), (kept.centre, d))
    rows, halves, centre = (np.frombuffer(memory, np.int32, n, at - memory.ctypes.data).copy() for at, n in places)
    ridges = np.frombuffer(memory, np.int64, len(parts), kept.ridges - memory.ctypes.data).tolist()
    more = (int(kept.point), int(kept.pictures), int(kept.dropped_features))
    return Factor(rows, halves, centre, tuple(parts), tuple(ridges), *more)


def lengths(factor: Factor, y: NDArray[np.int16]) -> tuple[Int64, Int64]:
    """Squares and powers of two, one of each a vector: engine/mahalanobis.py."""
    core = native_core()
    y = np.ascontiguousarray(y, np.int16)
    assert y.ndim == 2 and y.shape[1] == factor.n_features
    squares, exponents = np.zeros(len(y), np.int64), np.zeros(len(y), np.int32)
    work = aligned_zeros(core.br_sums_mahalanobis_bytes(factor.n_features))
    places = (y.ctypes.data, len(y), work.ctypes.data, squares.ctypes.data, exponents.ctypes.data)
    info, _kept = _factor_info(factor)
    done(core.br_sums_mahalanobis(info, *places))
    return squares, exponents.astype(np.int64)


def expected(sums: Sums, solution: Solution, factor: Factor, shrinkage: Shrinkage = EXACT) -> OodModel:
    """Of a solution with means that were shrunk so and the factor of the same sums: engine/ood.py."""
    core = native_core()
    info, _kept = _factor_info(factor)
    weights = np.ascontiguousarray(solution.weights)
    solved = br_solution(weights.ctypes.data, None, sums.n_features, sums.classes, solution.pictures, solution.exponent)
    middle = np.zeros(factor.n_features, np.int32)
    parts, model = _parts(factor.parts, [(1, 1)] * len(factor.parts)), br_ood(weights=middle.ctypes.data)
    work = aligned_zeros(core.br_sums_mahalanobis_bytes(factor.n_features))
    sizes = (parts, len(factor.parts), br_shrinkage(*shrinkage.terms), work.ctypes.data)
    done(core.br_sums_ood(info_of(sums), ctypes.byref(solved), info, *sizes, ctypes.byref(model)))
    figures = (int(model.fitted), int(model.ratio), int(model.expected), int(model.temperature))
    return OodModel(*figures, middle, int(model.bias))


def _parts(parts: Sequence[int], lambdas: Sequence[tuple[int, int]]) -> ctypes.Array[br_sums_part]:
    return (br_sums_part * len(parts))(
        *(br_sums_part(length, *pair) for length, pair in zip(parts, lambdas, strict=True))
    )


def _factor_info(factor: Factor) -> tuple[br_factor, tuple[NDArray, ...]]:
    """And the arrays that it points into."""
    ridges = np.array(factor.ridges, np.int64)
    arrays = tuple(np.ascontiguousarray(a) for a in (factor.rows, factor.halves, factor.centre, ridges))
    places = (array.ctypes.data for array in arrays)
    return br_factor(*places, factor.pictures, factor.n_features, factor.dropped_features, factor.point), arrays
