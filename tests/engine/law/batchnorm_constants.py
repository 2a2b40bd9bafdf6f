"""The integer constants of a BatchNorm (docs/law.md section 8): by search over fractions, and the engine's own.

Real numbers are [values, shift] (values / 2^shift); scales are [numerator, denominator]; r_scale may be null.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.quant import Scales
from bitreplay.engine.builder import Value
from bitreplay.engine.graph import Fixed
from bitreplay.engine.layers import batchnorm
from tests.engine.law.numbers import multiplier, nearest, power

NAMES = ("gamma", "beta", "mean", "inverse_sigma")


def finest(largest: Fraction, limit: int) -> int:
    """The largest p with largest 2^p <= limit."""
    return max(p for p in range(-100, 150) if largest * power(p) <= limit)


def expected_constants(numbers: Any, x_scales: Any, x_bound: int, y_scale: Any, r_scale: Any) -> Any:
    gamma, beta, mean, inverse = ([Fraction(v) / power(s) for v in values] for values, s in (numbers[n] for n in NAMES))
    gamma_shift, beta_shift = numbers["gamma"][1], numbers["beta"][1]
    scales, y = [Fraction(*s) for s in x_scales], Fraction(*y_scale)
    ratios = [i * s / y for i, s in zip(inverse, scales, strict=True)]
    a_bits = min(31, 60 - x_bound.bit_length())
    largest = max(*(abs(g * r) for g, r in zip(gamma, ratios, strict=True)), Fraction(1, 2**30))
    points = [finest(largest, 2 ** (a_bits - 4) - 1), finest(power(-beta_shift) / y, 2**30)]
    if r_scale is not None:
        points.append(finest(Fraction(*r_scale) / y, 2**36 - 1))
    shift = min(points)
    factor_point = finest(max(abs(r) for r in ratios), 2**30 - 1)
    means = [m / s for m, s in zip(mean, scales, strict=True)]
    mean_shift = min(12, finest(max(*(abs(m) for m in means), Fraction(1)), 2**30 - 1))
    beta_multiplier = multiplier(power(shift - beta_shift) / y)
    return {
        "shift": shift,
        "factor": [nearest(r * power(factor_point)) for r in ratios],
        "mean": [nearest(m * power(mean_shift)) for m in means],
        "attributes": {
            "a_shift": gamma_shift + factor_point - shift,
            "a_limit": 2**a_bits - 1,
            "mean_shift": mean_shift,
            "beta_mantissa": beta_multiplier[0],
            "beta_shift": beta_multiplier[1],
        },
        "gamma_step": list(multiplier(power(gamma_shift - factor_point))),
        "beta_step": list(multiplier(power(beta_shift) / y)),
    }


def constants(numbers: Any, x_scales: Any, x_bound: int, y_scale: Any, r_scale: Any) -> Any:
    fixed = {name: Fixed(np.array(values, np.int32), shift) for name, (values, shift) in numbers.items()}
    scales = [Fraction(*s) for s in x_scales]
    unit = Fraction(1, math.lcm(*(scale.denominator for scale in scales)))
    x = Value(0, (1, 1, len(scales)), x_bound, scales=Scales(unit, tuple(int(scale / unit) for scale in scales)))
    k = batchnorm.constants(fixed.__getitem__, x, Fraction(*y_scale), r_scale and Fraction(*r_scale))
    return {
        "shift": k.shift,
        "factor": k.factor.tolist(),
        "mean": k.mean.tolist(),
        "attributes": k.attributes,
        "gamma_step": [k.gamma_step.mantissa, k.gamma_step.shift],
        "beta_step": [k.beta_step.mantissa, k.beta_step.shift],
    }
