"""Oracles of RPReLU, clip, addition, concatenation and of learned numbers."""

from __future__ import annotations

from typing import Any

from tests.engine.law.arrays import Nested, build, flat, shape_of
from tests.engine.law.numbers import (
    NO_GRADIENT,
    descend,
    key,
    merge,
    random_bits,
    round_shift,
    saturate,
    step_multiplier,
)
from tests.engine.law.oracles.binary import stored
from tests.engine.law.oracles.signs import by_channel


def learned_operand(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    return {"operand": [saturate(round_shift(m * a.mantissa, a.shift), -a.limit, a.limit) for m in t.master]}


def learned_update(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    step = step_multiplier(a.mantissa, a.shift, (run.rate_mantissa, run.rate_shift), run.samples)
    hashed = key(run.seed, run.step, a.number)
    pairs = enumerate(zip(t.master, t.p, strict=True))
    return {"master": [descend(m, p, t.pe[a.at], step, random_bits(hashed, i)) for i, (m, p) in pairs]}


def rprelu(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    saturated = t.saturated[0]

    def entry(n: int, i: int, j: int, c: int) -> int:
        nonlocal saturated
        z = (t.x[n][i][j][c] - a.x_zero) * 2**a.point - t.s[c]
        y = round_shift(z * (a.one if z > 0 else t.b[c]) + t.o[c], a.shift) + a.y_zero
        saturated += y < a.low or y > a.high
        return saturate(y, a.low, a.high)

    return {"y": build(shape_of(t.x), entry), "saturated": [saturated]}


def elements(t: Any, a: Any, n: int) -> list[tuple[int, int, int]]:
    """(g, z, slope) of each element of a sample."""
    channels, found = len(t.s), []
    for number, (g, x) in enumerate(zip(flat(t.g[n]), flat(t.x[n]), strict=True)):
        c = number % channels
        z = (x - a.x_zero) * 2**a.point - t.s[c]
        found.append((g, z, a.one if z > 0 else t.b[c]))
    return found


def rprelu_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    exact = [([g * slope for g, _, slope in elements(t, a, n)], t.e[n] - a.shift + a.point) for n in range(run.samples)]
    return stored(exact, a.bits, shape_of(t.gx))


def rprelu_param_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    channels, all_samples = len(t.s), [elements(t, a, n) for n in range(run.samples)]
    moved = [[round_shift(-g * slope, a.slope_down) for g, _, slope in rows] for rows in all_samples]
    below = [[round_shift(g * min(z, 0), a.z_down) for g, z, _ in rows] for rows in all_samples]
    plain = [[g for g, _, _ in rows] for rows in all_samples]
    written: dict[str, Nested] = {"pe": [NO_GRADIENT] * 3}
    terms = (("ps", moved, a.slope_bound), ("pb", below, a.z_bound), ("po", plain, a.g_bound))
    for at, (role, values, bound) in enumerate(terms):
        if getattr(t, role) is not None:
            sums = [by_channel(rows, channels) for rows in values]
            written[role], written["pe"][at] = merge(sums, t.e, bound)
    return written


def rescaled(x: int, a: Any) -> int:
    return saturate(round_shift((x - a.x_zero) * a.mantissa, a.shift) + a.y_zero, a.low, a.high)


def clip(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    return {"y": build(shape_of(t.x), lambda n, i, j, c: rescaled(t.x[n][i][j][c], a))}


def clip_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    exact = []
    for n in range(run.samples):
        pairs = zip(flat(t.g[n]), flat(t.x[n]), strict=True)
        exact.append(([g * a.mantissa if a.above < x < a.below else 0 for g, x in pairs], t.e[n] - a.shift))
    return stored(exact, a.bits, shape_of(t.gx))


def add(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    saturated = t.saturated[0]

    def entry(n: int, i: int, j: int, c: int) -> int:
        nonlocal saturated
        total = (t.a[n][i][j][c] - a.a_zero) * a.a_factor + (t.b[n][i][j][c] - a.b_zero) * a.b_factor
        y = round_shift(total, a.shift) + a.y_zero
        saturated += y < a.low or y > a.high
        return saturate(y, a.low, a.high)

    return {"y": build(shape_of(t.a), entry), "saturated": [saturated]}


def affine_fine(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    saturated = t.saturated[0]

    def entry(n: int, i: int, j: int, c: int) -> int:
        nonlocal saturated
        scaled = saturate((t.x[n][i][j][c] - a.x_zero) * t.a[c] + t.b[c], -a.limit, a.limit) * 2**a.up
        total = scaled + (t.residual[n][i][j][c] - a.residual_zero) * a.residual_factor
        y = round_shift(total, a.shift) + a.y_zero
        saturated += y < a.low or y > a.high
        return saturate(y, a.low, a.high)

    return {"y": build(shape_of(t.x), entry), "saturated": [saturated]}


def concat(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    count = shape_of(t.x)[3]

    def entry(n: int, i: int, j: int, c: int) -> int:
        inside = a.first <= c < a.first + count
        return rescaled(t.x[n][i][j][c - a.first], a) if inside else t.y[n][i][j][c]

    return {"y": build(shape_of(t.y), entry)}


def concat_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    count = shape_of(t.gx)[3]
    exact = []
    for n in range(run.samples):
        part = [g for row in t.g[n] for pixel in row for g in pixel[a.first : a.first + count]]
        exact.append(([g * a.mantissa for g in part], t.e[n] - a.shift))
    return stored(exact, a.bits, shape_of(t.gx))
