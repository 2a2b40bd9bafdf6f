"""Oracles of the binary layers: each takes tensors `t`, attributes `a` and `run`, and returns what is written."""

from __future__ import annotations

from typing import Any

from tests.engine.law.arrays import Nested, apply, build, flat, shape_of, shaped
from tests.engine.law.numbers import align, pack, quantise, round_shift, unpack


def pack_signs(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    return {"bits": [[[pack([x >= a.zero for x in pixel]) for pixel in row] for row in sample] for sample in t.x]}


def taps_of(size: int, out: int, kernel: int, a: Any) -> list[tuple[int, int, int]]:
    """(output, tap, input) for every tap, also those outside the map."""
    return [(o, k, o * a.stride + k - a.pad) for o in range(out) for k in range(kernel)]


def signs_of(words: list[int], channels: int) -> list[int]:
    return [2 * bit - 1 for bit in unpack(words, channels)]


def binary_conv(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    samples, height, width, _ = shape_of(t.x)
    outputs, kernel, _, _ = shape_of(t.w)
    _, out_h, out_w, _ = shape_of(t.sums)
    x = [[[signs_of(words, a.channels) for words in row] for row in sample] for sample in t.x]
    w = [[[signs_of(words, a.channels) for words in row] for row in output] for output in t.w]

    def entry(n: int, i: int, j: int, o: int) -> int:
        total = 0
        for row in range(kernel):
            for column in range(kernel):
                r, c = i * a.stride + row - a.pad, j * a.stride + column - a.pad
                inside = 0 <= r < height and 0 <= c < width
                if inside or a.padding == 1:
                    pixel = x[n][r][c] if inside else [1] * a.channels
                    total += sum(p * q for p, q in zip(pixel, w[o][row][column], strict=True))
        return total

    return {"sums": build((samples, out_h, out_w, outputs), entry)}


def binary_conv_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    outputs, kernel, _, _ = shape_of(t.w)
    samples, out_h, out_w, _ = shape_of(t.g)
    _, height, width, channels = shape_of(t.gx)
    w = [[[signs_of(words, channels) for words in row] for row in output] for output in t.w]

    def entry(n: int, r: int, c: int, channel: int) -> int:
        total = 0
        for i, row, reads in taps_of(height, out_h, kernel, a):
            for j, column, also in taps_of(width, out_w, kernel, a):
                if (reads, also) == (r, c):
                    total += sum(t.g[n][i][j][o] * w[o][row][column][channel] for o in range(outputs))
        return total

    return {"gx": build((samples, height, width, channels), entry)}


def with_other(term: tuple[list[int], int, int], t: Any, a: Any, n: int) -> tuple[list[int], int]:
    """One sample's term, and the optional second one, as exact values and their exponent."""
    if t.other is None:
        return term[0], term[1]
    other = [v * a.other_factor for v in flat(t.other[n])]
    aligned, exponent = align([term, (other, t.other_e[n] - a.other_shift, a.other_bound)])
    return [p + q for p, q in zip(*aligned, strict=True)], exponent


def stored(exact: list[tuple[list[int], int]], bits: int, shape: tuple[int, ...]) -> dict[str, Nested]:
    """Each sample's exact (values, exponent) as the gradient gx and its exponents ex."""
    parts = [quantise(values, exponent, bits) for values, exponent in exact]
    return {"gx": [shaped(values, shape[1:]) for values, _ in parts], "ex": [exponent for _, exponent in parts]}


def sign_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def derivative(x: int) -> int:
        return max(0, a.peak - round_shift(abs(x - a.zero) * a.slope_mantissa, a.slope_shift))

    exact = []
    for n in range(run.samples):
        values = [g * derivative(x) for g, x in zip(flat(t.g[n]), flat(t.x[n]), strict=True)]
        exact.append(with_other((values, t.e[n] - a.peak_shift, a.bound), t, a, n))
    return stored(exact, a.bits, shape_of(t.gx))


def gradient_sum(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    exact = []
    for n in range(run.samples):
        values = [g * a.factor for g in flat(t.g[n])]
        exact.append(with_other((values, t.e[n] - a.shift, a.bound), t, a, n))
    return stored(exact, a.bits, shape_of(t.gx))


def image_table(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    rows = [[[[t.table[u][c] for c, u in enumerate(pixel)] for pixel in row] for row in sample] for sample in t.image]
    return {"y": rows}


def integer_conv(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    _, height, width, channels = shape_of(t.x)
    _, kernel, _, _ = shape_of(t.w)
    x = apply(lambda value: value - a.x_zero, t.x)

    def entry(n: int, i: int, j: int, o: int) -> int:
        total = 0
        for row in range(kernel):
            for column in range(kernel):
                r, c = i * a.stride + row - a.pad, j * a.stride + column - a.pad
                if 0 <= r < height and 0 <= c < width:
                    total += sum(x[n][r][c][k] * t.w[o][row][column][k] for k in range(channels))
        return round_shift(total, a.down)

    return {"sums": build(shape_of(t.sums), entry)}
