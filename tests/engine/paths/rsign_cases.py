"""RSign around the width of vectors and on both sides of every limit of its short ways (kernels/sign/rsign_*.h)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.packing import words_for
from tests.engine.paths.cases import BITS, CHANNELS
from tests.engine.paths.one_record import Case, Operand
from tests.engine.paths.operands import exponents, numbers, zeros
from tests.engine.paths.rprelu_cases import LARGEST, SHAPES, WIDTHS, activations

SLOPE = {"peak": 56668138, "slope_mantissa": 1531256606}
SHIFTS: dict[type, int] = {np.int8: 21, np.int16: 29, np.int32: 33}
# What a case changes; the threshold stands for its limit.
CHANGES: list[dict[str, int]] = [
    {"threshold": (1 << 31) - 3 * (1 << 20)}, {"threshold": LARGEST}, {"point": 0}, {"point": 22}, {"point": 30},
    {"point": 31}, {"point": 62}, {"zero": 1 << 30}, {"zero": (1 << 30) + 1}, {"zero": -(1 << 40)}, {"peak": 1},
    {"peak": (1 << 30) - 1}, {"peak": 1 << 30}, {"peak": 0}, {"peak": -5}, {"peak": 1 << 35}, {"slope_shift": 1},
    {"slope_shift": 32}, {"slope_shift": 33}, {"slope_shift": 0}, {"slope_mantissa": LARGEST},
    {"slope_mantissa": LARGEST + 1}, {"slope_mantissa": 1}, {"slope_mantissa": 0}, {"slope_mantissa": -9},
    {"slope_mantissa": 1 << 20, "slope_shift": 11, "threshold": 1 << 20}, {"other_factor": LARGEST},
    {"other_factor": LARGEST + 1},
]  # fmt: skip


def thresholds(rng: np.random.Generator, x: NDArray, zero: int, point: int, limit: int | None) -> Operand:
    """Near the activations; one of them meets an activation of its channel, two are as far as they go."""
    near = np.int64(np.iinfo(x.dtype).max) << min(point, 30)
    values = numbers(rng, np.int32, x.shape[-1:], min(limit or int(near), LARGEST))
    met = (int(x[0, 0, 0, 0]) - zero) << point
    values[0] = met if abs(met) <= LARGEST else 0
    return Operand(values, False)


def pack_signs_above() -> Iterator[Case]:
    rng = np.random.default_rng(16)
    for channels in CHANNELS:
        for dtype, point in WIDTHS:
            x, zero = activations(rng, dtype, (2, 3, 1, channels)), int(rng.integers(-100, 100))
            yield above(x, thresholds(rng, x, zero, point, None), zero, point)
    # The bound of a channel at, below and above the ends of the stored numbers, and just beside an integer.
    for dtype, point in WIDTHS[:2]:
        info = np.iinfo(dtype)
        ends = [info.min - 1, info.min, info.min + 1, -1, 0, 1, info.max, info.max + 1, info.max + 2]
        bounds = [(end << point) + off for end in ends for off in (-1, 0, 1)]
        near = np.array([*bounds, -LARGEST - 1, LARGEST], np.int32)
        x = np.repeat(np.array([info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max], dtype), len(near))
        yield above(x.reshape(1, 7, 1, len(near)), Operand(near, False), 0, point)
        for zero in (-3, info.min, info.max, 1 << 30, -(1 << 30), (1 << 30) + 1, 1 << 40):
            yield above(x.reshape(1, 7, 1, len(near)), Operand(near, False), zero, point)
        for other_point in (0, 1, 29, 30, 31, 62):
            yield above(x.reshape(1, 7, 1, len(near)), Operand(near, False), 2, other_point)


def above(x: NDArray, threshold: Operand, zero: int, point: int) -> Case:
    bits = zeros(np.uint64, (*x.shape[:3], words_for(x.shape[3])))
    operands = {"x": Operand(x), "threshold": threshold, "bits": bits}
    attributes = {"zero": zero, "point": point}
    return Case("pack_signs_above", operands, attributes, len(x), f"{x.dtype} {x.shape} {zero} {point}")


def drawn() -> Iterator[tuple[np.random.Generator, dict[str, Operand], dict[str, int], str]]:
    """g e x threshold, and the attributes of the derivative."""
    rng = np.random.default_rng(17)
    rows = [(shape, dtype, point, dict[str, int]()) for shape in SHAPES for dtype, point in WIDTHS]
    rows += [((3, 2, 19), dtype, point, changed) for changed in CHANGES for dtype, point in WIDTHS[:2]]
    for number, (shape, dtype, point, changed) in enumerate(rows):
        x = activations(rng, dtype, (1 + number % 3, *shape))
        a = {"zero": int(np.iinfo(dtype).min // 4), "point": point, "slope_shift": SHIFTS[dtype]} | SLOPE | changed
        wide = np.int64 if number % 11 == 10 else np.int32
        g, e = numbers(rng, wide, x.shape, 1 << 34 if wide is np.int64 else None), exponents(rng, len(x))
        g[e.content <= -(1 << 20)] = 0
        threshold = thresholds(rng, x, a["zero"], a["point"], a.pop("threshold", None))
        operands = {"g": Operand(g), "e": e, "x": Operand(x), "threshold": threshold}
        yield rng, operands, a, f"{dtype.__name__} {shape} {changed}"


def rsign_input_grad() -> Iterator[Case]:
    for number, (rng, operands, a, label) in enumerate(drawn()):
        g, stored = operands["g"].content, (np.int8, np.int16, np.int32)[number % 3]
        sizes = {"peak_shift": 29, "bound": 58, "bits": BITS[stored], "other_shift": 28, "other_bound": 43}
        made = operands | {"gx": zeros(stored, g.shape), "ex": zeros(np.int32, (len(g),))}
        yield Case("rsign_input_grad", made, {"other_factor": 0} | sizes | a, len(g), label)
        for apart in ((0, 25, -25), (-65, 90), (-66, -90))[number % 3]:
            dtype = np.int32 if number % 7 == 6 else stored
            e = operands["e"].content + np.int32(apart)
            if len(g) > 2:
                e[2] = -(1 << 20)
            second = numbers(rng, dtype, g.shape)
            second[e <= -(1 << 20)] = 0
            pair = {"other": Operand(second), "other_e": Operand(e)}
            attributes = {"other_factor": 201159139} | sizes | a
            yield Case("rsign_input_grad", made | pair, attributes, len(g), f"{label} {apart}")


def rsign_param_grad() -> Iterator[Case]:
    for number, (_, operands, a, label) in enumerate(drawn()):
        g = operands["g"].content
        a.pop("other_factor", None)
        made = operands | {"p": zeros(np.int64, g.shape[-1:], False), "pe": zeros(np.int32, (1,), False)}
        yield Case("rsign_param_grad", made, a | {"down": number % 2 * 4, "bound": 59}, len(g), label)


RSIGN = {
    "pack_signs_above limits": pack_signs_above, "rsign_input_grad limits": rsign_input_grad,
    "rsign_param_grad limits": rsign_param_grad,
}  # fmt: skip
