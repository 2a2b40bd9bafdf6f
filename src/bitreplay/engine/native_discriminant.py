"""The discriminant with the native core: answers.py, the same bits, faster. Sums to probabilities is one call.

    rule = discriminant_of(sums, parts=[512])
    rule.labels(x), rule.labels(x, Fraction(1, 20))     class numbers; -1 where a picture is unknown
    rule.probabilities(x)                               (pictures, classes), 30 bits behind the point

It never changes what it answers, so that threads may share it. Where the core is missing, the reference answers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from fractions import Fraction
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from bitreplay.core.interface import br_answers, br_discriminant, br_shrinkage, br_sums_part
from bitreplay.engine.aligned import aligned_zeros
from bitreplay.engine.answers import ReferenceDiscriminant
from bitreplay.engine.arithmetic.fixedpoint import Int64, round_fraction
from bitreplay.engine.discriminant import Solution
from bitreplay.engine.native_sums import done, info_of, library, together
from bitreplay.engine.ood import POINT
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.sums import Sums


def discriminant_of(
    sums: Sums, parts: Sequence[int], shrinkage: Shrinkage = EXACT
) -> NativeDiscriminant | ReferenceDiscriminant:
    """Of these sums, for parts of x of these lengths. ValueError without a picture."""
    core = library()
    if core is None:
        return ReferenceDiscriminant(sums, parts, shrinkage)
    return NativeDiscriminant(core, sums, parts, shrinkage)


class NativeDiscriminant:
    def __init__(
        self, core: ctypes.CDLL, sums: Sums, parts: Sequence[int], shrinkage: Shrinkage = EXACT
    ) -> None:  # fmt: skip
        self._core, self._sums = core, together(sums)
        self._info, self._parts = info_of(self._sums), (br_sums_part * len(parts))(*map(br_sums_part, parts))
        places = (ctypes.addressof(self._info), ctypes.addressof(self._parts), len(parts))
        self._rule = br_discriminant(*places, keeps_factor=1, shrinkage=br_shrinkage(*shrinkage.terms))
        self._size = sums.n_features, sums.classes
        self._memory = aligned_zeros(core.br_discriminant_place(self._rule, *self._size, None))
        core.br_discriminant_place(self._rule, *self._size, self._memory.ctypes.data)
        work = aligned_zeros(core.br_discriminant_work_bytes(*self._size, len(parts)))
        done(core.br_discriminant_solve(self._rule, work.ctypes.data))
        self._answer_bytes, self._expecting = core.br_discriminant_answer_bytes(*self._size), Lock()

    @property
    def solution(self) -> Solution:
        """With shrunk means."""
        info, (n_features, classes) = self._rule.solution, self._size
        weights = self._array(info.weights, classes * n_features, np.int32).reshape(classes, n_features)
        figures = int(info.exponent), int(info.pictures), int(info.dropped_features)
        return Solution(weights, self._array(info.biases, classes, np.int64), *figures)

    def _array(self, address: int, count: int, kind: type[np.signedinteger]) -> NDArray:
        return np.frombuffer(self._memory, kind, count, address - self._memory.ctypes.data)

    @property
    def temperature(self) -> int:
        self._expect()
        return int(self._rule.ood.temperature)

    def labels(self, x: NDArray[np.int8], share: Fraction = Fraction(0)) -> Int64:
        labels, unknown = np.zeros(len(x), np.uint32), np.zeros(len(x), np.uint32)
        if not share:
            self._answer(x, labels=labels.ctypes.data)
            return labels.astype(np.int64)
        self._expect()
        part = max(round_fraction(share * (1 << POINT)), 1)
        self._answer(x, labels=labels.ctypes.data, unknown=unknown.ctypes.data, share=part)
        return np.where(unknown, -1, labels.astype(np.int64))

    def probabilities(self, x: NDArray[np.int8]) -> Int64:
        self._expect()
        result = np.zeros((len(x), self._size[1]), np.int32)
        self._answer(x, probabilities=result.ctypes.data)
        return result.astype(np.int64)

    def _answer(self, x: NDArray[np.int8], **wanted: int) -> None:
        x = np.ascontiguousarray(x)
        if x.dtype != np.int8 or x.ndim != 2 or x.shape[1] != self._size[0]:
            raise ValueError(f"Features must be int8 of shape (n, {self._size[0]}), got {x.dtype} {x.shape}.")
        work = aligned_zeros(self._answer_bytes)
        places = (x.ctypes.data, len(x), br_answers(**wanted), work.ctypes.data)
        done(self._core.br_discriminant_answer(self._rule, *places))

    def _expect(self) -> None:
        """Once, and before threads that need it go on: after that nobody writes to the discriminant."""
        with self._expecting:
            if not self._rule.is_expected:
                work = aligned_zeros(self._answer_bytes)
                done(self._core.br_discriminant_expect(self._rule, work.ctypes.data))
