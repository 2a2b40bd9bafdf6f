"""Learning by sums with the native core: the functions of sums.py, possible.py, discriminant.py, mahalanobis.py and
ood.py, the same bits, faster. native_discriminant.py has all that answers need in one.

    sums = Sums.empty(n_features=512, classes=10)
    add(sums, x, labels)                          x (pictures, 512) int8 in [-127, 127], labels (pictures,) integers
    add(sums, x, labels, sign=-1)                 takes them away
    combine(sums, other); combine(sums, other, sign=-1)
    forget(sums, row)                             a class goes; its scatter stays
    solution = solve(sums, parts=[512])           lengths that add up to 512; ValueError if there is no picture
    scores(solution, x), answers(solution, x)     (pictures, classes) int64; (pictures,) class numbers
    factor = factored(sums, parts=[512])          lengths(factor, y): vectors of integers under the covariance
    expected(sums, solution, factor)              what pictures that were not learned are expected to look like
    possible(sums), has_factor(sums)              whether they can be the sums of pictures
    contain(sums, part, rows, forgot)             whether they can be those of a part and of more

The core works with the instruction set that `native.set_isa` or BITREPLAY_ISA names. Where it is missing, or too old
to know these functions, the reference runs instead, with one warning.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bitreplay.core import interface
from bitreplay.core.interface import (
    BR_IMPOSSIBLE,
    BR_OTHER_BASE,
    br_factor,
    br_ood,
    br_shrinkage,
    br_solution,
    br_sums,
    br_sums_part,
)
from bitreplay.engine import discriminant, native, ood
from bitreplay.engine import mahalanobis as reference_mahalanobis
from bitreplay.engine import possible as reference_possible
from bitreplay.engine import sums as reference
from bitreplay.engine.aligned import aligned_zeros
from bitreplay.engine.arithmetic.fixedpoint import Int64
from bitreplay.engine.discriminant import Lambda, Solution, checked_parts
from bitreplay.engine.mahalanobis import Factor
from bitreplay.engine.ood import OodModel
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.sums import Sums, checked, fits, narrowed, width

FUNCTIONS = [name for name in interface.FUNCTIONS if name.startswith("br_sums_")]


@cache
def library() -> ctypes.CDLL | None:
    """The core with these functions; none, after a warning, if there is none."""
    try:
        core = native.library()
        for name in FUNCTIONS:
            getattr(core, name)
        return core
    except (OSError, AttributeError) as error:
        warnings.warn(
            f"the native core cannot learn by sums ({error}); the NumPy reference does it instead: the same results, "
            "ten to a thousand times slower",
            RuntimeWarning,
            stacklevel=3,
        )
        return None


def add(sums: Sums, x: NDArray[np.int8], labels: NDArray, sign: int = 1) -> None:
    """Add pictures (sign 1) or take them away (sign -1). ValueError, and nothing changed, for what does not fit."""
    core = library()
    if core is None:
        return reference.add(sums, x, labels, sign)
    x, labels = checked(sums, x, labels, sign)
    _to_width(sums, sums.extent + len(x))
    work = aligned_zeros(core.br_sums_add_bytes(sums.n_features))
    info = info_of(sums)
    done(core.br_sums_add(info, x.ctypes.data, labels.ctypes.data, len(x), sign, work.ctypes.data))
    _to_width(sums, sums.extent)


def combine(sums: Sums, other: Sums, sign: int = 1) -> None:
    """Add the sums of other pictures over the same classes (sign 1), or take them away (sign -1)."""
    core = library()
    if core is None or not sums.classes:  # the core has no sums without a class
        return reference.combine(sums, other, sign)
    fits(sums, other.n_features, other.counts, sign)
    _to_width(sums, sums.extent + max(sign, 0) * other.extent)
    done(core.br_sums_combine(info_of(sums), info_of(other), sign))
    _to_width(sums, sums.extent)


def forget(sums: Sums, row: int) -> None:
    """Remove a class and what its sum makes of the products; its scatter stays in them: sums.py."""
    core = library()
    if core is None:
        return reference.forget(sums, row)
    work = aligned_zeros(8 * sums.n_features)
    _to_width(sums, max(sums.extent, core.br_sums_extent_without(info_of(sums), row, work.ctypes.data)))
    done(core.br_sums_forget(info_of(sums), row, work.ctypes.data))
    sums.counts, sums.class_sums, sums.forgot = np.delete(sums.counts, row), np.delete(sums.class_sums, row, 0), True
    _to_width(sums, sums.extent)


def possible(sums: Sums) -> bool:
    """Whether these can be the sums of pictures: possible.py."""
    core = library()
    if core is None or not sums.classes:
        return reference_possible.possible(sums)
    work = aligned_zeros(8 * sums.n_features)
    return _holds(core.br_sums_possible(info_of(together(sums)), int(sums.forgot), work.ctypes.data))


def contain(sums: Sums, part: Sums, rows: NDArray[np.int32], forgot: bool) -> bool:
    """Whether `sums` can be those of the part's pictures and of more: possible.py."""
    core = library()
    if core is None or not sums.classes or not part.classes:
        return reference_possible.contain(sums, part, rows, forgot)
    work, kept = aligned_zeros(8 * sums.n_features), (together(sums), together(part))
    code = core.br_sums_contain(*map(info_of, kept), rows.ctypes.data, int(forgot), work.ctypes.data)
    return _holds(code, BR_OTHER_BASE)


def has_factor(sums: Sums) -> bool:
    """Whether the scatter of these sums, which are possible, can be that of pictures: possible.py."""
    core = library()
    if not sums.pictures:
        return True
    if core is None:
        return reference_possible.has_factor(sums)
    work = aligned_zeros(core.br_sums_solve_bytes(sums.n_features, sums.classes))
    return _holds(core.br_sums_has_factor(info_of(together(sums)), work.ctypes.data))


def solve(sums: Sums, parts: Sequence[int], shrink: Lambda = EXACT) -> Solution:
    """The discriminant of these sums. ValueError without a picture, or if they cannot be the sums of pictures."""
    core = library()
    if core is None:
        return discriminant.solve(sums, parts, shrink)
    return _Solver(core, "br_sums_solve", "solution", sums, parts, shrink).solved()


def scores(solution: Solution, x: NDArray[np.int8]) -> Int64:
    """W_c . x + b_c, (pictures, classes) int64; ABSENT for a class without pictures."""
    core = library()
    if core is None:
        return discriminant.scores(solution, x)
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
    """The factor of these sums' covariance, for `lengths`. ValueError as for `solve`."""
    core = library()
    if core is None:
        return reference_mahalanobis.factored(sums, parts, shrink)
    return _Solver(core, "br_sums_factor", "factor", sums, parts, shrink).factored()


class _Solver:
    """What a function of the core made of sums: a solution, a factor, or both."""

    def __init__(
        self, core: ctypes.CDLL, function: str, outputs: str, sums: Sums, parts: Sequence[int], shrink: Lambda
    ) -> None:  # fmt: skip
        self._sums, self._parts = sums, tuple(parts)
        self._given = _parts(parts, checked_parts(sums, parts, shrink))
        self._weights = np.zeros((sums.classes, sums.n_features), np.int32)
        self._biases, self._ridges = np.zeros(sums.classes, np.int64), np.zeros(len(parts), np.int64)
        self._work = aligned_zeros(core.br_sums_solve_bytes(sums.n_features, sums.classes))
        self.solution = br_solution(self._weights.ctypes.data, self._biases.ctypes.data)
        self.factor = br_factor(ridges=self._ridges.ctypes.data)
        results = [ctypes.byref(getattr(self, name)) for name in outputs.split()]
        inputs = (info_of(sums), self._given, len(self._given), self._work.ctypes.data)
        done(getattr(core, function)(*inputs, *results))

    def solved(self) -> Solution:
        info = self.solution
        return Solution(self._weights, self._biases, int(info.exponent), int(info.pictures), int(info.dropped_features))

    def factored(self) -> Factor:
        info, d = self.factor, self._sums.n_features
        rows, halves, centre = (
            self._copied(place, count)
            for place, count in ((info.rows, d * (d + 1) // 2), (info.halves, d), (info.centre, d))
        )
        more = (int(info.point), int(info.pictures), int(info.dropped_features))
        return Factor(rows, halves, centre, self._parts, tuple(self._ridges.tolist()), *more)

    def _copied(self, address: int, count: int) -> NDArray[np.int32]:
        start = address - self._work.ctypes.data
        return self._work[start : start + 4 * count].view(np.int32).copy()


def lengths(factor: Factor, y: NDArray[np.int16]) -> tuple[Int64, Int64]:
    """Squares and powers of two, one of each a vector: mahalanobis.py."""
    core = library()
    if core is None:
        return reference_mahalanobis.lengths(factor, y)
    y = np.ascontiguousarray(y, np.int16)
    assert y.ndim == 2 and y.shape[1] == factor.n_features
    squares, exponents = np.zeros(len(y), np.int64), np.zeros(len(y), np.int32)
    work = aligned_zeros(core.br_sums_mahalanobis_bytes(factor.n_features))
    places = (y.ctypes.data, len(y), work.ctypes.data, squares.ctypes.data, exponents.ctypes.data)
    info, _kept = _factor_info(factor)
    done(core.br_sums_mahalanobis(info, *places))
    return squares, exponents.astype(np.int64)


def expected(sums: Sums, solution: Solution, factor: Factor, shrinkage: Shrinkage = EXACT) -> OodModel:
    """Of a solution with means that were shrunk so and the factor of the same sums: ood.py."""
    core = library()
    if core is None:
        return ood.ood(sums, solution, factor, reference_mahalanobis.lengths, shrinkage)
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


def solve_bytes(n_features: int, classes: int) -> int:
    """The memory that `solve` works in, besides sums and solution; 0 without the core."""
    core = library()
    return 0 if core is None else int(core.br_sums_solve_bytes(n_features, classes))


def _to_width(sums: Sums, pictures: int) -> None:
    """Store the sums with the width of so many pictures, contiguous and writable, as the core takes them."""
    stored = width(pictures)
    sums.counts = _own(sums.counts, np.dtype(np.int64))
    sums.class_sums, sums.products = _own(sums.class_sums, stored), _own(sums.products, stored)


def _own(array: NDArray, stored: np.dtype) -> NDArray:
    array = np.ascontiguousarray(array if array.dtype == stored else narrowed(array, stored))
    return array if array.flags.writeable else array.copy()


def info_of(sums: Sums) -> br_sums:
    """As the core takes them; it points into the arrays."""
    for array in (sums.counts, sums.class_sums, sums.products):
        assert array.flags.c_contiguous
    arrays = (sums.counts.ctypes.data, sums.class_sums.ctypes.data, sums.products.ctypes.data)
    return br_sums(sums.n_features, sums.classes, 8 * sums.products.dtype.itemsize, *arrays)


def together(sums: Sums) -> Sums:
    """The same with arrays that lie together; those of a file do, and are not copied."""
    counts, rows, products = (np.ascontiguousarray(array) for array in (sums.counts, sums.class_sums, sums.products))
    return Sums(counts, rows, products, sums.forgot)


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


def _holds(code: int, otherwise: int = BR_IMPOSSIBLE) -> bool:
    if code not in (0, otherwise):
        done(code)
    return code == 0


def done(failed: int) -> None:
    """ValueError with the core's text if a function failed."""
    if failed:
        raise ValueError(f"learning by sums: {native.library().br_error_text(failed).decode()}")
