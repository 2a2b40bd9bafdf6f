"""Oracles of clipped sign, RSign and latent weights."""

from __future__ import annotations

from typing import Any

from tests.engine.law.arrays import Nested, flat, shape_of
from tests.engine.law.numbers import (
    NO_GRADIENT,
    key,
    merge,
    nearest,
    pack,
    power,
    random_bits,
    round_shift,
    saturate,
    step_multiplier,
    stochastic_shift,
    to_31_bits,
    unpack,
)
from tests.engine.law.oracles.binary import signs_of, stored, with_other

LARGEST = 2**31 - 1


def rows_of(x: Nested, entry: Any) -> Nested:
    """entry(pixel) for each row of channels."""
    return [[[entry(pixel) for pixel in row] for row in sample] for sample in x]


def pack_signs_clipped(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    return {
        "bits": rows_of(t.x, lambda pixel: pack([x >= a.zero for x in pixel])),
        "mask": rows_of(t.x, lambda pixel: pack([-a.limit <= x - a.zero <= a.limit for x in pixel])),
    }


def clipped_sign_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    exact = []
    channels = shape_of(t.g)[3]
    for n in range(run.samples):
        masks = [bit for row in t.mask[n] for words in row for bit in unpack(words, channels)]
        values = [g * a.factor * bit for g, bit in zip(flat(t.g[n]), masks, strict=True)]
        exact.append(with_other((values, t.e[n] - a.shift, a.bound), t, a, n))
    return stored(exact, a.bits, shape_of(t.gx))


def unpack_signs(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    return {"x": rows_of(t.bits, lambda words: signs_of(words, a.channels))}


def pack_signs_above(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def bits(pixel: list[int]) -> list[int]:
        return pack([(x - a.zero) * 2**a.point >= limit for x, limit in zip(pixel, t.threshold, strict=True)])

    return {"bits": rows_of(t.x, bits)}


def slopes(t: Any, a: Any, n: int) -> list[int]:
    """The derivative at each element of a sample."""
    channels = len(t.threshold)
    found = []
    for number, x in enumerate(flat(t.x[n])):
        distance = abs((x - a.zero) * 2**a.point - t.threshold[number % channels])
        found.append(max(0, a.peak - round_shift(distance * a.slope_mantissa, a.slope_shift)))
    return found


def rsign_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    exact = []
    for n in range(run.samples):
        values = [g * d for g, d in zip(flat(t.g[n]), slopes(t, a, n), strict=True)]
        exact.append(with_other((values, t.e[n] - a.peak_shift, a.bound), t, a, n))
    return stored(exact, a.bits, shape_of(t.gx))


def by_channel(values: list[int], channels: int) -> list[int]:
    """Sums over the pixels of one sample."""
    return [sum(values[c::channels]) for c in range(channels)]


def rsign_param_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    sums = []
    for n in range(run.samples):
        products = [round_shift(-g * d, a.down) for g, d in zip(flat(t.g[n]), slopes(t, a, n), strict=True)]
        sums.append(by_channel(products, len(t.threshold)))
    p, exponent = merge(sums, t.e, a.bound)
    return {"p": p, "pe": [exponent]}


def loaded(row: list[int], channels: int, bits: int) -> list[int]:
    """One row of latent weights as integers."""
    if bits != 4:
        return row
    halves = [half for both in row for half in (both % 16, both // 16)]
    return [half - 16 if half >= 8 else half for half in halves[:channels]]


def latent_signs(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    return {"w": rows_of(t.latent, lambda row: pack([v >= 0 for v in loaded(row, a.channels, a.bits)]))}


def latent_update(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    outputs, kernel = shape_of(t.latent)[:2]
    samples, out_h, out_w, _ = shape_of(t.g)
    _, height, width, _ = shape_of(t.x)
    top = max(t.e)
    if top <= NO_GRADIENT:
        return {"latent": t.latent}
    x = rows_of(t.x, lambda words: signs_of(words, a.channels))
    rate = step_multiplier(a.mantissa, a.shift, (run.rate_mantissa, run.rate_shift), run.samples)
    hashed = key(run.seed, run.step, a.number)
    low, high = -(2 ** (a.bits - 1)), 2 ** (a.bits - 1) - 1

    def aligned(n: int, i: int, j: int, o: int) -> int:
        return nearest(t.g[n][i][j][o] * power(a.up + t.e[n] - top)) if t.e[n] > NO_GRADIENT else 0

    def sums(o: int, row: int, column: int) -> list[int]:
        total = [0] * a.channels
        for n in range(samples):
            for i in range(out_h):
                for j in range(out_w):
                    r, c = i * a.stride + row - a.pad, j * a.stride + column - a.pad
                    inside = 0 <= r < height and 0 <= c < width
                    signs = x[n][r][c] if inside else [a.padding] * a.channels
                    g = aligned(n, i, j, o)
                    total = [s + g * sign for s, sign in zip(total, signs, strict=True)]
        return total

    def moved(o: int, row: int, column: int) -> list[int]:
        before, after = loaded(t.latent[o][row][column], a.channels, a.bits), []
        for c, total in enumerate(sums(o, row, column)):
            value, down = to_31_bits(total)
            product, shift = value * rate[0], rate[1] - down - (top - a.up)
            if shift < 0:
                product = saturate(product, -LARGEST, LARGEST)
            element = ((o * kernel + row) * kernel + column) * a.channels + c
            change = stochastic_shift(product, max(shift, -31), random_bits(hashed, element))
            after.append(saturate(before[c] - change, low, high))
        if a.bits != 4:
            return after
        halves = [v % 16 for v in after] + [0] * (len(after) % 2)
        return [halves[i] + 16 * halves[i + 1] for i in range(0, len(halves), 2)]

    square = range(kernel)
    return {"latent": [[[moved(o, row, column) for column in square] for row in square] for o in range(outputs)]}
