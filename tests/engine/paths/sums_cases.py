"""Cases of learning by sums for every instruction set: sums to start from, pictures added and taken away, the solution.

A case's result is bytes: counts, class sums, products, weights, biases, exponent and dropped features, scores of
the pictures. core/tools/sums.c makes the same from `file_of`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitreplay.engine import discriminant
from bitreplay.engine import sums as exact_sums
from bitreplay.engine.shrinkage import EXACT
from bitreplay.engine.sums import Sums
from tests.engine.law.sums_functions import arrays

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 31, 32, 33, 48, 63, 64, 65, 67]


@dataclass
class Case:
    start: Sums
    x: np.ndarray
    labels: np.ndarray
    taken: int  # so many of the pictures are taken away again
    parts: list[int]
    lambdas: list[tuple[int, int]]


def case_of(
    numbers: int, classes: int, pictures: int, taken: int, parts: list[int], ends: bool, seed: int, start: Any = None
) -> Case:
    rng = np.random.default_rng(seed)
    x = rng.choice([-127, 127], (pictures, numbers)) if ends else rng.integers(-127, 128, (pictures, numbers))
    labels = rng.integers(0, classes, pictures).astype(np.int32)
    sums = start or Sums.empty(numbers, classes)
    n = sums.pictures + pictures - taken
    lambdas = [EXACT(n, numbers, classes, length) for length in parts]
    return Case(sums, x.astype(np.int8), labels, taken, parts, lambdas)


def every_size() -> Iterator[Case]:
    """Sizes around the vectors' widths, classes around the table's, pictures around the block's."""
    for seed, numbers in enumerate(SIZES):
        parts = [numbers] if numbers < 3 else [1, numbers - 3, 2]
        for classes, pictures, taken in ((1, 1, 0), (2, 3, 1), (5, 63, 2), (16, 64, 0), (17, 65, 1), (35, 130, 66)):
            yield case_of(numbers, classes, pictures, taken, [n for n in parts if n], (seed + classes) % 3 == 0, seed)


def extremes() -> Iterator[Case]:
    """Made sums: 64 bits, almost 2^31 pictures, no variation, a row that is left out, a wide lambda."""
    ends = np.array([[127 if (row >> i) & 1 else -127 for i in range(4)] for row in range(16)], np.int64)
    products = (ends.T @ ends)[np.tril_indices(4)]
    for factor in (8192, 2**27 - 1):
        start = [[16 * factor, 0, 0], [(ends.sum(axis=0) * factor).tolist(), [0] * 4, [0] * 4], products * factor]
        for pictures, taken in ((1, 0), (5, 5), (7, 3)):
            case = case_of(4, 3, pictures, taken, [4], True, pictures, arrays(start))
            if case.start.products.dtype == np.int32:  # a width for what comes, as native_sums gives it
                case.start.class_sums = case.start.class_sums.astype(np.int64)
                case.start.products = case.start.products.astype(np.int64)
            yield case
    yield case_of(33, 4, 0, 0, [33], False, 1, arrays([[5, 0, 2, 0], np.zeros((4, 33)), np.zeros(33 * 17)]))
    impossible = np.zeros((35, 35), np.int64)
    impossible[np.tril_indices(35)] = 90
    np.fill_diagonal(impossible, np.arange(35) + 60)
    for lambdas in ((1, 1024), (8, 1), (5, 7)):
        start = [[3, 2], np.ones((2, 35)), impossible[np.tril_indices(35)]]
        case = case_of(35, 2, 2, 0, [30, 5], False, 2, arrays(start))
        case.lambdas = [lambdas, (1, 1)]
        yield case


def expected(case: Case) -> bytes:
    """From the reference, with the width that the case starts with."""
    sums = case.start.copy()
    exact_sums.add(sums, case.x, case.labels)
    exact_sums.add(sums, case.x[: case.taken], case.labels[: case.taken], sign=-1)
    given = iter(case.lambdas)
    solution = discriminant.solve(sums, case.parts, lambda *_: next(given))
    stored = case.start.products.dtype
    found = (sums.counts, sums.class_sums.astype(stored), sums.products.astype(stored))
    head = struct.pack("<iI", solution.exponent, solution.dropped_features)
    last = (solution.weights, solution.biases, head, discriminant.scores(solution, case.x))
    return b"".join(bytes(part) for part in (*found, *last))


def file_of(case: Case) -> bytes:
    """The case as core/tools/sums.c reads it; every part is padded to 8 bytes."""
    start, x = case.start, case.x
    head = struct.pack(
        "<6Q", start.n_features, start.classes, 8 * start.products.dtype.itemsize, len(case.parts), len(x), case.taken
    )
    pairs = zip(case.parts, case.lambdas, strict=True)
    parts = np.array([(length, *pair) for length, pair in pairs], np.int64)
    pieces = (head, parts, start.counts, start.class_sums, start.products, case.labels, x)
    return b"".join(bytes(piece) + b"\0" * (-len(bytes(piece)) % 8) for piece in pieces)
