"""Sums as few bytes: what class sums tell of the products is left out, and what stays has its high bytes together.

    r = G - sum over classes of floor(s_c s_c^T / n_c)       the lower triangle by rows, 64-bit integers
    z = 2 v, or -2 v - 1 where v < 0                         for each number v of s and r: small numbers, small z
    planes                                                   first bytes of all z, then all second bytes, ...
    zlib                                                     level 6

Every step can be undone exactly, whatever the numbers are. docs/fleet.md has the bytes beside those of other codes.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
LEVEL = 6
MAX_SQUARED = 1 << 24  # pictures of a class whose squared sums fit 64 bits: (127 * 2^24)^2 < 2^62


def expected_products(counts: NDArray, class_sums: NDArray) -> Int64:
    """What the products would be if all pictures of a class were alike, rounded down."""
    n_features = class_sums.shape[1]
    products = np.zeros(n_features * (n_features + 1) // 2, np.int64)
    for count, row in zip(counts.tolist(), class_sums.astype(np.int64), strict=True):
        if 0 < count <= MAX_SQUARED and int(np.abs(row).max(initial=0)) <= 127 * MAX_SQUARED:
            for i in range(n_features):
                start = i * (i + 1) // 2
                products[start : start + i + 1] += row[i] * row[: i + 1] // count
    return products


def packed(numbers: NDArray) -> tuple[bytes, int]:
    """The numbers as bytes, and how many bytes each had in the planes: 4 or 8."""
    values = numbers.astype(np.int64).reshape(-1)
    zigzag = ((values << 1) ^ (values >> 63)).view(np.uint64)
    width = 4 if int(zigzag.max(initial=0)) < 1 << 32 else 8
    planes = zigzag.astype(f"<u{width}").view(np.uint8).reshape(-1, width).T
    return zlib.compress(planes.tobytes(), LEVEL), width


def unpacked(data: bytes, width: int, count: int) -> Int64:
    """`count` numbers; ValueError unless the bytes hold exactly so many. No more memory is taken than they need."""
    if width not in (4, 8):
        raise ValueError(f"Numbers of a message have 4 or 8 bytes, got {width}.")
    reader = zlib.decompressobj()
    try:
        planes = reader.decompress(data, width * count + 1)
    except zlib.error:
        raise ValueError("Numbers of the message are damaged.") from None
    if len(planes) != width * count or not reader.eof or reader.unused_data:
        raise ValueError(f"The message has other numbers than the {count} that it must have.")
    columns = np.frombuffer(planes, np.uint8).reshape(width, count).T
    zigzag = np.ascontiguousarray(columns).view(f"<u{width}").reshape(-1).astype(np.uint64)
    return (zigzag >> np.uint64(1)).astype(np.int64) ^ -((zigzag & np.uint64(1)).astype(np.int64))
