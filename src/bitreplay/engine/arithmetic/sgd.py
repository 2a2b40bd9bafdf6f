"""One step of plain stochastic gradient descent on int32 masters.

    master <- master - stochastic( gradient 2^exponent * constant * rate / samples )

The three factors become one normalised mantissa of 31 bits; the gradient keeps its 31 highest bits; their int64
product is rounded once, stochastically, to a unit of the master. docs/law.md section 9.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.counter import key, random_bits
from bitreplay.engine.arithmetic.fixedpoint import Int64, bit_length, round_shift, saturate, stochastic_shift
from bitreplay.engine.operations import Run

INT32_MAX = (1 << 31) - 1


def step_multiplier(mantissa: int, shift: int, run: Run) -> tuple[int, int]:
    """constant * rate / samples as (mantissa of 31 bits, shift)."""
    product = mantissa * run.rate_mantissa // run.samples
    down = max(product.bit_length() - 31, 0)
    return int(round_shift(np.int64(product), down)), shift + run.rate_shift - down


def to_31_bits(x: Int64) -> tuple[Int64, Int64]:
    """x as (value below 2^31, shift): x ~ value * 2^shift."""
    down = np.maximum(bit_length(x) - 31, 0)
    return round_shift(x, down), down


def change(
    gradient: Int64,
    exponent: Int64 | int,
    mantissa: int,
    shift: int,
    run: Run,
    tensor: int,
    elements: NDArray[np.uint32],
) -> Int64:
    """What a step takes away, in units of the parameter; `tensor` and `elements` are what the generator hashes."""
    step_mantissa, step_shift = step_multiplier(mantissa, shift, run)
    value, down = to_31_bits(gradient)
    product = value * step_mantissa
    total = step_shift - down - exponent
    product = np.where(total < 0, saturate(product, -INT32_MAX, INT32_MAX), product)
    random = random_bits(key(run.seed, run.step, tensor), elements)
    return stochastic_shift(product, np.maximum(total, -31), random)


def descend(
    master: NDArray[np.int32], gradient: Int64, exponent: Int64 | int, mantissa: int, shift: int, run: Run, tensor: int
) -> NDArray[np.int32]:
    """The new master; `gradient` and `exponent` per element, `tensor` the number that the generator hashes."""
    elements = np.arange(master.size, dtype=np.uint32).reshape(master.shape)
    step = change(gradient, exponent, mantissa, shift, run, tensor, elements)
    return saturate(master.astype(np.int64) - step, -INT32_MAX, INT32_MAX).astype(np.int32)
