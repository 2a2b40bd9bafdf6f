"""RPReLU around the width of vectors and on both sides of each limit of kernels/activation/rprelu_lanes.h."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tests.engine.paths.cases import BITS
from tests.engine.paths.one_record import Case, Operand
from tests.engine.paths.operands import exponents, numbers, zeros

SHAPES = [(1, 1, 1), (5, 3, 7), (4, 4, 8), (1, 3, 9), (3, 6, 15), (1, 1, 16), (17, 1, 17), (3, 5, 31), (4, 4, 33),
          (2, 2, 63), (1, 2, 64), (2, 1, 130)]  # fmt: skip
WIDTHS: list[tuple[type, int]] = [(np.int8, 12), (np.int16, 12), (np.int32, 3)]
LARGEST = (1 << 31) - 1
# What a case changes: a limit of |s|, |b|, |o| and attributes. The short way holds for the first of each group.
CHANGES: list[tuple[dict[str, int], dict[str, int]]] = [
    ({"o": 1 << 61}, {"shift": 62}), ({"o": (1 << 61) + 1}, {"shift": 62}), ({"o": (1 << 62) - 1}, {"shift": 55}),
    ({}, {"shift": 32}), ({}, {"shift": 31}), ({}, {"shift": 63}), ({}, {"shift": -2}),
    ({"s": LARGEST}, {"shift": 40}), ({"s": (1 << 30) - 1, "b": LARGEST}, {"point": 0, "x_zero": 0}),
    ({"s": (1 << 30) - 200}, {"point": 0, "x_zero": 5}),
    ({}, {"point": 22}), ({}, {"point": 23}), ({}, {"point": 31}), ({}, {"point": 62}),
    ({}, {"x_zero": 1 << 30}), ({}, {"x_zero": -(1 << 40)}), ({}, {"one": LARGEST}), ({}, {"one": LARGEST + 1}),
    ({}, {"y_zero": 1 << 29}), ({}, {"y_zero": -(1 << 31)}), ({}, {"low": 3, "high": 3}), ({}, {"low": -(1 << 40)}),
    ({}, {"high": 1 << 35}),
]  # fmt: skip


def learned(rng: np.random.Generator, x: NDArray, a: dict[str, int], limits: dict[str, int]) -> dict[str, Operand]:
    """s, b: numbers of the size that compiled programs have, or up to a limit; s meets an activation of its channel."""
    channels = x.shape[-1]
    s = numbers(rng, np.int32, (channels,), limits.get("s", 1 << (18 + 8 * (x.itemsize == 2))))
    if "s" not in limits and a["point"] <= 12:
        met = (int(x[0, 0, 0, 0]) - a["x_zero"]) << a["point"]
        s[0] = met if abs(met) <= LARGEST else 0
    b = numbers(rng, np.int32, (channels,), limits.get("b", 1 << 27))
    return {"x": Operand(x), "s": Operand(s, False), "b": Operand(b, False)}


def attributes_of(dtype: type, point: int) -> dict[str, int]:
    largest = min(np.iinfo(dtype).max, (1 << 23) - 1)
    return {"x_zero": -largest // 5, "point": point, "one": 166176101 >> np.iinfo(dtype).bits // 8, "shift": 39,
            "y_zero": largest // 3, "low": -largest - 1, "high": largest}  # fmt: skip


def activations(rng: np.random.Generator, dtype: type, shape: tuple[int, ...]) -> NDArray:
    return numbers(rng, dtype, shape, (1 << 23) - 1 if dtype is np.int32 else None)


def drawn() -> Iterator[tuple[np.random.Generator, NDArray, dict[str, int], dict[str, Operand], dict[str, int], str]]:
    rng = np.random.default_rng(15)
    for number, (height, width, channels) in enumerate(SHAPES):
        for dtype, point in WIDTHS:
            x, a = activations(rng, dtype, (1 + number % 3, height, width, channels)), attributes_of(dtype, point)
            yield rng, x, a, learned(rng, x, a, {}), {}, f"{dtype.__name__} {height} {width} {channels}"
    for limits, changed in CHANGES:
        for dtype, point in WIDTHS[:2]:
            x, a = activations(rng, dtype, (2, 3, 2, 19)), attributes_of(dtype, point) | changed
            yield rng, x, a, learned(rng, x, a, limits), limits, f"{dtype.__name__} {limits} {changed}"


def rprelu() -> Iterator[Case]:
    for rng, x, a, operands, limits, label in drawn():
        o = numbers(rng, np.int64, x.shape[-1:], limits.get("o", 1 << 46))
        operands |= {"o": Operand(o, False), "y": zeros(x.dtype.type, x.shape)}
        operands |= {"saturated": Operand(np.array([7]), False)}
        yield Case("rprelu", operands, a, len(x), label)


def rprelu_ties() -> Iterator[Case]:
    """z A + o a half of 2^shift from an integer, on both sides of 0: ties go away from it."""
    for dtype, shift in [(np.int8, 34), (np.int8, 40), (np.int16, 36), (np.int8, 20)]:
        x = np.arange(-60, 60, dtype=dtype).reshape(1, 1, 4, 30)
        half = 1 << (shift - 1)
        for tie in (half, -half, half - 1, -half - 1, 5 * half, -5 * half):
            channels = x.shape[-1]
            operands = {
                "x": Operand(x), "s": Operand(np.zeros(channels, np.int32), False),
                "b": Operand(np.full(channels, 1 << 22, np.int32), False),
                "o": Operand(np.full(channels, tie), False), "y": zeros(dtype, x.shape),
                "saturated": Operand(np.array([0]), False),
            }  # fmt: skip
            a = {"x_zero": 0, "point": 12, "one": 1 << 23, "shift": shift, "y_zero": 0, "low": -50, "high": 50}
            yield Case("rprelu", operands, a, 1, f"{dtype.__name__} {shift} {tie}")


def rprelu_largest() -> Iterator[Case]:
    """The largest z A and o together, and o beyond what the short way takes: sums that just fit 64 bits, or wrap."""
    far, steep = (1 << 30) - (1 << 20), (LARGEST, -LARGEST)
    ends = [(1 << 61), (1 << 61) + 1, (1 << 61) + (1 << 60), 1 << 62, 3 << 61, (1 << 63) - 1]
    rows = [(s, b, sign * o) for s in (far, -far) for b in steep for o in ends for sign in (1, -1)]
    rows += [(far, -LARGEST, -(1 << 63)), (-far, LARGEST, -(1 << 63))]
    for chosen in (rows, [row for row in rows if abs(row[2]) == 1 << 61]):
        s, b, o = (np.array(column, np.int64) for column in zip(*chosen, strict=True))
        x = np.tile(np.array([[-128], [0], [127]], np.int8), (1, 1, 1, len(chosen))).reshape(1, 3, 1, len(chosen))
        for shift in (31, 32, 33, 34, 61, 62, 63):
            for y_zero in (0, 1 << 29, (1 << 29) + 1, -(1 << 30), -(1 << 31)):
                operands = {
                    "x": Operand(x), "s": Operand(s.astype(np.int32), False), "b": Operand(b.astype(np.int32), False),
                    "o": Operand(o, False), "y": zeros(np.int8, x.shape), "saturated": Operand(np.array([0]), False),
                }  # fmt: skip
                a = {"x_zero": 0, "point": 12, "one": LARGEST, "shift": shift, "y_zero": y_zero, "low": -128}
                yield Case("rprelu", operands, a | {"high": 127}, 1, f"{shift} {y_zero} {len(chosen)}")


def gradients(rng: np.random.Generator, x: NDArray) -> Iterator[tuple[NDArray, Operand]]:
    for dtype in (np.int8, np.int16, np.int32):
        g, e = numbers(rng, dtype, x.shape), exponents(rng, len(x))
        g[e.content <= -(1 << 20)] = 0
        yield g, e


def rprelu_input_grad() -> Iterator[Case]:
    names = ("x_zero", "point", "one", "shift")
    for rng, x, a, operands, _, label in drawn():
        for g, e in gradients(rng, x):
            bits = BITS[g.dtype.type]
            made = operands | {"g": Operand(g), "e": e, "gx": zeros(g.dtype.type, g.shape),
                               "ex": zeros(np.int32, (len(x),))}  # fmt: skip
            yield Case("rprelu_input_grad", made, {name: a[name] for name in names} | {"bits": bits}, len(x), label)


def rprelu_param_grad() -> Iterator[Case]:
    for rng, x, a, operands, _, label in drawn():
        for g, e in gradients(rng, x):
            channels, down = x.shape[-1], int(rng.integers(0, 2)) * 5
            made = operands | {"g": Operand(g), "e": e, "pe": zeros(np.int32, (3,), False)}
            roles = ("pb",) if down else ("ps", "pb", "po")
            made |= {role: zeros(np.int64, (channels,), False) for role in roles}
            sizes = {"slope_down": down, "slope_bound": 51, "z_down": down, "z_bound": 50, "g_bound": 36}
            yield Case("rprelu_param_grad", made, {name: a[name] for name in ("x_zero", "point", "one")} | sizes,
                       len(x), label)  # fmt: skip


RPRELU = {
    "rprelu limits": rprelu, "rprelu ties": rprelu_ties,
    "rprelu largest limits": rprelu_largest, "rprelu_input_grad limits": rprelu_input_grad,
    "rprelu_param_grad limits": rprelu_param_grad,
}  # fmt: skip
