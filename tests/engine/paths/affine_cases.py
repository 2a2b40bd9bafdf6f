"""BatchNorm's affine on both sides of every limit of its short ways (kernels/affine/affine_lanes.h, affine_pairs.h).

Constant numbers of channels are arranged when the program is opened, learned ones in each run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tests.engine.paths.one_record import Case, Operand
from tests.engine.paths.operands import numbers, zeros

LARGEST = (1 << 31) - 1
SHAPES = [(1, 1, 1), (3, 6, 15), (17, 1, 17), (4, 4, 33), (2, 2, 64), (2, 1, 530)]
TYPES: list[tuple[type, type]] = [
    (np.int16, np.int8), (np.int16, np.int16), (np.int32, np.int8), (np.int32, np.int16), (np.int8, np.int8),
]  # fmt: skip
# What a case changes: limits of |a| and |b|, and attributes.
CHANGES: list[dict[str, int]] = [
    {"a": LARGEST}, {"b": 1 << 61}, {"b": (1 << 61) + 1}, {"b": (1 << 63) - 1},
    {"a": 1 << 30, "shift": 40}, {"b": 1 << 45}, {"b": 1 << 48, "shift": 40},
    {"a": LARGEST, "b": 1 << 61, "shift": 62}, {"a": LARGEST, "b": 1 << 61, "shift": 32, "y_zero": 1 << 29},
    {"y_zero": (1 << 29) + 1}, {"y_zero": -(1 << 31)},
    {"shift": 15}, {"shift": 16}, {"shift": 31}, {"shift": 32}, {"shift": 33}, {"shift": 63}, {"shift": 0},
    {"shift": -3}, {"shift": 17}, {"shift": 46}, {"shift": 47},
    {"x_zero": 1 << 30}, {"x_zero": -(1 << 40)}, {"residual_zero": 1 << 30}, {"residual_zero": 1 << 31},
    {"residual_factor": LARGEST}, {"residual_factor": LARGEST + 1}, {"residual_factor": -LARGEST},
    {"low": 5, "high": 5}, {"low": -(1 << 40)}, {"high": 1 << 35}, {"low": 5, "high": 5, "shift": 46}, {"y_zero": -900},
]  # fmt: skip


def case(
    rng: np.random.Generator, shape: tuple[int, ...], types: tuple[type, type], changed: dict[str, int], residual: bool
) -> Case:
    largest, change = int(np.iinfo(types[1]).max), dict(changed)
    a = numbers(rng, np.int32, shape[-1:], change.pop("a", 1 << 22))
    b = numbers(rng, np.int64, shape[-1:], change.pop("b", 1 << 34))
    region = "constant" if rng.random() < 0.5 else "arena"
    operands = {"x": Operand(numbers(rng, types[0], shape)),
                "a": Operand(a, False, region), "b": Operand(b, False, region)}  # fmt: skip
    operands |= {"y": zeros(types[1], shape), "saturated": Operand(np.array([3]), False)}
    if residual:
        operands |= {"residual": Operand(numbers(rng, types[1], shape))}
    attributes = {"x_zero": 3, "shift": 27, "y_zero": largest // 3, "low": -largest - 1, "high": largest,
                  "residual_zero": -largest // 5, "residual_factor": 106463019}  # fmt: skip
    label = f"{types[0].__name__} {types[1].__name__} {shape} {changed} {residual}"
    return Case("affine", operands, attributes | change, shape[0], label)


def affine() -> Iterator[Case]:
    rng = np.random.default_rng(18)
    for number, (shape, types) in enumerate(product(SHAPES, TYPES)):
        yield case(rng, (1 + number % 2, *shape), types, {}, number % 3 > 0)
    for number, (changed, types) in enumerate(product([*CHANGES, *CHANGES], TYPES[:4])):
        yield case(rng, (1, 3, 2, 19), types, changed, number // 4 % 3 > 0 or "residual" in str(changed))


def affine_ties() -> Iterator[Case]:
    """Sums a half of 2^shift from an integer, on both sides of 0: ties go away from it."""
    for x_type, shift in [*product([np.int16], (17, 20, 32, 46)), (np.int32, 40), (np.int32, 20)]:
        x, half = np.arange(-60, 60, dtype=x_type).reshape(1, 1, 4, 30), 1 << (shift - 1)
        ties = (half, -half, half - 1, -half - 1, 5 * half, -5 * half)
        for tie, region in product(ties, ("arena", "constant")):
            operands = {
                "x": Operand(x), "a": Operand(np.full(30, min(half, LARGEST), np.int32), False, region),
                "b": Operand(np.full(30, tie), False, region), "y": zeros(np.int8, x.shape),
                "saturated": Operand(np.array([0]), False),
            }  # fmt: skip
            attributes = {"x_zero": 0, "shift": shift, "y_zero": 0, "low": -25, "high": 25, "residual_zero": 0}
            yield Case("affine", operands, attributes | {"residual_factor": 0}, 1, f"{x_type.__name__} {shift} {tie}")


AFFINE = {"affine limits": affine, "affine ties": affine_ties}
