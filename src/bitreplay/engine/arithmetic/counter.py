"""Random numbers without a state: a hash of (seed, step, tensor, element).

The order in which elements are visited does not matter, so tiles, vectors and threads cannot change the result.
A key of 64 bits is made once for (seed, step, tensor); each element costs two 32-bit multiplications.

    key     = mix(mix(mix(seed) ^ step) ^ tensor),  mix: the finaliser of SplitMix64
    x       = element * 0x9E3779B1 + low half of key                       (all modulo 2^32)
    x      ^= x >> 16;  x *= 0x85EBCA6B;  x ^= x >> 13;  x ^= high half of key
    x      *= 0xC2B2AE35;  x ^= x >> 16

docs/law.md section 4; core/src/arithmetic/counter.h is the native twin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_64 = (1 << 64) - 1


def mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & _64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _64
    return x ^ (x >> 31)


def key(seed: int, step: int, tensor: int) -> int:
    return mix(mix(mix(seed & _64) ^ (step & _64)) ^ tensor)


def random_bits(key: int, elements: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """32 random bits for each element number."""
    low, high = np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32)
    x = elements.astype(np.uint32) * np.uint32(0x9E3779B1) + low
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x85EBCA6B)
    x ^= x >> np.uint32(13)
    x ^= high
    x *= np.uint32(0xC2B2AE35)
    x ^= x >> np.uint32(16)
    return x
