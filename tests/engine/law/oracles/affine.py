"""Oracles of BatchNorm, average pooling and the level code."""

from __future__ import annotations

from typing import Any

from tests.engine.law.arrays import Nested, apply, build, flat, shape_of, shaped
from tests.engine.law.numbers import (
    descend,
    key,
    merge,
    pack,
    quantise,
    random_bits,
    round_shift,
    saturate,
    step_multiplier,
    to_31_bits,
    unpack,
)
from tests.engine.law.oracles.binary import stored


def batchnorm_fold(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    scales, offsets = [], []
    for gamma, beta, mean, factor in zip(t.gamma, t.beta, t.mean, t.factor, strict=True):
        scale = saturate(round_shift(gamma * factor, a.a_shift), -a.a_limit, a.a_limit)
        offset = round_shift(beta * a.beta_mantissa, a.beta_shift) - round_shift(scale * mean, a.mean_shift)
        scales.append(scale)
        offsets.append(saturate(offset, -(2**61) + 1, 2**61 - 1))
    return {"a": scales, "b": offsets}


def affine(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    saturated = t.saturated[0]

    def entry(n: int, i: int, j: int, c: int) -> int:
        nonlocal saturated
        total = (t.x[n][i][j][c] - a.x_zero) * t.a[c] + t.b[c]
        if t.residual is not None:
            total += (t.residual[n][i][j][c] - a.residual_zero) * a.residual_factor
        y = round_shift(total, a.shift) + a.y_zero
        saturated += y < a.low or y > a.high
        return saturate(y, a.low, a.high)

    return {"y": build(shape_of(t.x), entry), "saturated": [saturated]}


def affine_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    exact = []
    for n in range(run.samples):
        values = [g * t.a[c] for row in t.g[n] for pixel in row for c, g in enumerate(pixel)]
        exact.append((values, t.e[n] - a.shift))
    return stored(exact, a.bits, shape_of(t.gx))


def affine_param_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    samples, height, width, channels = shape_of(t.g)
    pixels = [(i, j) for i in range(height) for j in range(width)]
    products = [
        [sum(t.g[n][i][j][c] * (t.x[n][i][j][c] - a.x_zero) for i, j in pixels) for c in range(channels)]
        for n in range(samples)
    ]
    sums = [[sum(t.g[n][i][j][c] for i, j in pixels) for c in range(channels)] for n in range(samples)]
    p, exponent = merge(products, t.e, a.bound)
    return {"p": p, "q": merge(sums, t.e, a.bound)[0], "pe": [exponent]}


def batchnorm_update(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    rate = (run.rate_mantissa, run.rate_shift)
    gamma_step = step_multiplier(a.gamma_mantissa, a.gamma_shift, rate, run.samples)
    beta_step = step_multiplier(a.beta_mantissa, a.beta_shift, rate, run.samples)
    gamma, beta = [], []
    for c in range(len(t.gamma)):
        centred, down = to_31_bits(t.p[c] * 2**a.mean_shift - t.mean[c] * t.q[c])
        random = random_bits(key(run.seed, run.step, a.number), c)
        exponent = t.pe[0] - a.mean_shift + down
        gamma.append(descend(t.gamma[c], centred * t.factor[c], exponent, gamma_step, random))
        random = random_bits(key(run.seed, run.step, a.number + 1), c)
        beta.append(descend(t.beta[c], t.q[c], t.pe[0], beta_step, random))
    return {"gamma": gamma, "beta": beta}


def average_pool(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def entry(n: int, i: int, j: int, c: int) -> int:
        rows = range(i * a.window_h, (i + 1) * a.window_h)
        columns = range(j * a.window_w, (j + 1) * a.window_w)
        total = sum(t.x[n][r][k][c] - a.x_zero for r in rows for k in columns)
        return saturate(round_shift(total * a.mantissa, a.shift) + a.y_zero, a.low, a.high)

    return {"y": build(shape_of(t.y), entry)}


def average_pool_input_grad(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    _, out_h, out_w, _ = shape_of(t.g)
    parts = [quantise([g * a.mantissa for g in flat(t.g[n])], t.e[n] - a.shift, a.bits) for n in range(run.samples)]
    small = [shaped(values, shape_of(t.g)[1:]) for values, _ in parts]

    def entry(n: int, r: int, k: int, c: int) -> int:
        i, j = r // a.window_h, k // a.window_w
        return small[n][i][j][c] if i < out_h and j < out_w else 0

    return {"gx": build(shape_of(t.gx), entry), "ex": [exponent for _, exponent in parts]}


def encode_latents(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    def index(x: int, c: int) -> int:
        if t.thresholds is None:
            return (x - a.low) // 2**a.cut
        return sum(x >= threshold for threshold in t.thresholds[c])

    def code(pixel: list[int]) -> list[int]:
        n_features = [index(x, c) for c, x in enumerate(pixel)]
        return [word for plane in range(a.bits) for word in pack([n // 2**plane % 2 for n in n_features])]

    return {"code": [[[code(pixel) for pixel in row] for row in sample] for sample in t.x]}


def decode_latents(t: Any, a: Any, run: Any) -> dict[str, Nested]:
    channels = shape_of(t.x)[3]

    def pixel(words: list[int]) -> list[int]:
        size = len(words) // a.bits
        planes = [unpack(words[size * b : size * (b + 1)], channels) for b in range(a.bits)]
        n_features = [sum(planes[b][c] * 2**b for b in range(a.bits)) for c in range(channels)]
        if t.values is None:
            return apply(lambda n: a.low + n * 2**a.cut + 2**a.cut // 2, n_features)
        return [t.values[c][n] for c, n in enumerate(n_features)]

    return {"x": [[[pixel(words) for words in row] for row in sample] for sample in t.code]}
