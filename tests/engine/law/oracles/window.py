"""Oracles of the layers that slide a window: max-pool, fixed filters, convolutions whose weights learn, depthwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.engine.law.arrays import Nested, build, flat, shape_of
from tests.engine.law.numbers import (
    descend,
    key,
    merge,
    nearest,
    power,
    quantise,
    random_bits,
    round_shift,
    saturate,
    step_multiplier,
)
from tests.engine.law.oracles.activation import rescaled
from tests.engine.law.oracles.binary import stored


def reads(i: int, j: int, size: int, map_shape: tuple[int, ...], a: Any) -> Iterator[tuple[int, int, int, int]]:
    """(tap row, tap column, row, column) of every tap of output (i, j) that lies inside the map, in reading order."""
    for row in range(size):
        for column in range(size):
            r, k = i * a.stride + row - a.pad, j * a.stride + column - a.pad
            if 0 <= r < map_shape[1] and 0 <= k < map_shape[2]:
                yield row, column, r, k


def max_pool(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def largest(n: int, i: int, j: int, c: int) -> tuple[int, int]:
        found = [(t.x[n][r][k][c], row * a.window + column) for row, column, r, k in
                 reads(i, j, a.window, shape_of(t.x), a)]  # fmt: skip
        return max(found, key=lambda pair: (pair[0], -pair[1]), default=(-(2**32), 0))

    written = {"y": build(shape_of(t.y), lambda *at: rescaled(largest(*at)[0], a))}
    if t.place is not None:
        written["place"] = build(shape_of(t.y), lambda *at: largest(*at)[1])
    return written


def scattered(t: Any, a: Any, size: int, share: Callable[..., list[tuple[int, int]]]) -> list[list[int]]:
    """Per sample, gx from share(n, i, j, row, column) -> (channel, value) pairs that each tap receives."""
    shape, (samples, out_h, out_w, _) = shape_of(t.gx), shape_of(t.g)
    found = []
    for n in range(samples):
        gx = build(shape[1:], lambda *_: 0)
        for i in range(out_h):
            for j in range(out_w):
                for row, column, r, k in reads(i, j, size, shape, a):
                    for c, value in share(n, i, j, row, column):
                        gx[r][k][c] += value
        found.append(flat(gx))
    return found


def max_pool_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def share(n: int, i: int, j: int, row: int, column: int) -> list[tuple[int, int]]:
        places = enumerate(zip(t.g[n][i][j], t.place[n][i][j], strict=True))
        return [(c, g * a.mantissa) for c, (g, place) in places if place == row * a.window + column]

    values = scattered(t, a, a.window, share)
    return stored([(v, t.e[n] - a.shift) for n, v in enumerate(values)], a.bits, shape_of(t.gx))


def filter_pool(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def entry(n: int, i: int, j: int, c: int) -> int:
        taps = reads(i, j, len(t.kernel), shape_of(t.x), a)
        total = sum((t.x[n][r][k][c] - a.x_zero) * t.kernel[row][column] for row, column, r, k in taps)
        return saturate(round_shift(total * a.mantissa, a.shift) + a.y_zero, a.low, a.high)

    return {"y": build(shape_of(t.y), entry)}


def filter_pool_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def share(n: int, i: int, j: int, row: int, column: int) -> list[tuple[int, int]]:
        return [(c, g * t.kernel[row][column] * a.mantissa) for c, g in enumerate(t.g[n][i][j])]

    values = scattered(t, a, len(t.kernel), share)
    return stored([(v, t.e[n] - a.shift) for n, v in enumerate(values)], a.bits, shape_of(t.gx))


def conv_operand(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    rows = [quantise(flat(row), 0, a.bits) for row in t.weights]
    shape = shape_of(t.weights)
    size = len(rows[0][0])
    values = [v for row, _ in rows for v in row]
    operand = build((shape[0], size), lambda o, i: values[o * size + i])
    return {"operand": reshaped(operand, shape), "exponents": [max(exponent, 0) for _, exponent in rows]}


def reshaped(rows: Nested, shape: tuple[int, ...]) -> Nested:
    n_features = iter(flat(rows))
    return build(shape, lambda *_: next(n_features))


def dense_sum(t: Any, a: Any, n: int, i: int, j: int, o: int) -> int:
    taps = reads(i, j, len(t.w[0]), shape_of(t.x), a)
    return sum(
        (x - a.x_zero) * w for row, column, r, k in taps for x, w in zip(t.x[n][r][k], t.w[o][row][column], strict=True)
    )


def depthwise_sum(t: Any, a: Any, n: int, i: int, j: int, c: int) -> int:
    taps = reads(i, j, len(t.w[0]), shape_of(t.x), a)
    return sum((t.x[n][r][k][c] - a.x_zero) * t.w[c][row][column] for row, column, r, k in taps)


def with_exponents(t: Any, a: Any, total: Callable[..., int]) -> dict[str, Nested]:
    def entry(*at: int) -> int:
        return saturate(round_shift(total(t, a, *at), a.down - t.exponents[at[3]]), -a.limit, a.limit)

    return {"sums": build(shape_of(t.sums), entry)}


def learned_conv(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    return with_exponents(t, a, dense_sum)


def learned_depthwise(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    return with_exponents(t, a, depthwise_sum)


def depthwise_conv(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    return {"sums": build(shape_of(t.sums), lambda *at: round_shift(depthwise_sum(t, a, *at), a.down))}


def aligned(t: Any, a: Any) -> tuple[Callable[[int, int], int], int]:
    """(g, output) -> g in units that all outputs share, and the exponent of that unit."""
    if t.exponents is None:
        return lambda g, o: g, 0
    top = max(t.exponents)
    return lambda g, o: nearest(g * power(a.room + t.exponents[o] - top)), top - a.room


def integer_conv_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    scaled, common = aligned(t, a)

    def share(n: int, i: int, j: int, row: int, column: int) -> list[tuple[int, int]]:
        outputs = [(o, scaled(g, o)) for o, g in enumerate(t.g[n][i][j])]
        return [(c, g * w) for o, g in outputs for c, w in enumerate(t.w[o][row][column])]

    values = scattered(t, a, len(t.w[0]), share)
    return stored([(v, t.e[n] + common - a.down) for n, v in enumerate(values)], a.bits, shape_of(t.gx))


def depthwise_conv_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    scaled, common = aligned(t, a)

    def share(n: int, i: int, j: int, row: int, column: int) -> list[tuple[int, int]]:
        return [(c, scaled(g, c) * t.w[c][row][column]) for c, g in enumerate(t.g[n][i][j])]

    values = scattered(t, a, len(t.w[0]), share)
    return stored([(v, t.e[n] + common - a.down) for n, v in enumerate(values)], a.bits, shape_of(t.gx))


def updated(t: Any, a: Any, run: Any, product: Callable[..., int]) -> dict[str, Nested]:
    """Masters after a step; product(n, (i, j), (r, k), at) is what one tap adds to the gradient of weight `at`."""
    shape, (samples, out_h, out_w, _) = shape_of(t.weights), shape_of(t.g)
    size, places = shape[1], flat_places(shape)
    sums = [[0] * len(places) for _ in range(samples)]
    for n in range(samples):
        for i in range(out_h):
            for j in range(out_w):
                inside = {(row, column): (r, k) for row, column, r, k in reads(i, j, size, shape_of(t.x), a)}
                for number, at in enumerate(places):
                    tap = (at[1], at[2])
                    if tap in inside:
                        sums[n][number] += product(n, (i, j), inside[tap], at)
    total, exponent = merge(sums, t.e, a.bound)
    step = step_multiplier(a.mantissa, a.shift, (run.rate_mantissa, run.rate_shift), run.samples)
    hashed, before = key(run.seed, run.step, a.number), flat(t.weights)
    after = [
        descend(m, p, exponent, step, random_bits(hashed, i))
        for i, (m, p) in enumerate(zip(before, total, strict=True))
    ]
    return {"weights": reshaped(after, shape)}


def flat_places(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for length in shape:
        found = [(*at, i) for at in found for i in range(length)]
    return found


def learned_conv_update(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def product(n: int, out: tuple[int, int], at: tuple[int, int], weight: tuple[int, ...]) -> int:
        return t.g[n][out[0]][out[1]][weight[0]] * (t.x[n][at[0]][at[1]][weight[3]] - a.x_zero)

    return updated(t, a, run, product)


def learned_depthwise_update(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def product(n: int, out: tuple[int, int], at: tuple[int, int], weight: tuple[int, ...]) -> int:
        return t.g[n][out[0]][out[1]][weight[0]] * (t.x[n][at[0]][at[1]][weight[0]] - a.x_zero)

    return updated(t, a, run, product)
