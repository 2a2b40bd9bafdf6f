"""Byte arrays that start at a multiple of 64, as the native core wants its regions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 64


def aligned_zeros(size: int) -> NDArray[np.uint8]:
    """Zeros that take memory only where they are touched."""
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


def aligned(content: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A copy."""
    result = aligned_zeros(len(content))
    result[:] = content
    return result
