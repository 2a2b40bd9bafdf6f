"""Random tensors, zero and the extremes among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.engine.paths.one_record import Operand

STORED = (np.int8, np.int16, np.int32)


def numbers(rng: np.random.Generator, dtype: type, shape: tuple[int, ...], limit: int | None = None) -> NDArray:
    """Random integers; zero and the extremes are among them."""
    info = np.iinfo(dtype)
    low, high = (int(info.min), int(info.max)) if limit is None else (-limit, limit)
    values = rng.integers(low, high, shape, dtype, endpoint=True)
    flat = values.reshape(-1)
    for at, value in zip(rng.permutation(flat.size)[:3], (0, low, high), strict=False):
        flat[at] = value
    return values


def exponents(rng: np.random.Generator, samples: int) -> Operand:
    """Exponents of gradients, one sample without."""
    values = rng.integers(-60, -20, samples).astype(np.int32)
    if samples > 2:
        values[1] = -(1 << 20)
    return Operand(values)


def zeros(dtype: type, shape: tuple[int, ...], per_sample: bool = True) -> Operand:
    return Operand(np.zeros(shape, dtype), per_sample)
