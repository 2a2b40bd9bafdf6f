"""Resize a picture of any size to a square, in integers and exactly.

Each axis has its rule, n pixels to m:
- m <= n, area average: output pixel i covers the input interval [i n/m, (i+1) n/m). In units of 1/m, input pixel j
  covers [j m, (j+1) m), so every overlap is an integer and the weights of one output pixel sum to n.
- m > n, bilinear: the centre of output pixel i lies at ((2i + 1) n - m) / 2m among the centres of the input pixels;
  with j and f its quotient and remainder by 2m, the weights are 2m - f for pixel j and f for pixel j + 1 and sum to 2m.
  Outside the picture its edge is repeated.

With D the product of the two sums of weights, out = floor((2 sum + D) / (2 D)), the mean with halves rounded up once.
Sums stay below 2^8 D, far inside int64. The picture's own size changes nothing; halving is (a + b + c + d + 2) >> 2;
doubling weighs 9, 3, 3, 1 and is (sum + 8) >> 4. Pre-training resizes by the same weights.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from bitreplay.arguments import as_integer, short_repr

LARGEST_SIDE = 1 << 14  # of a picture that is accepted


def side_of(side: Any) -> int:
    """The side of a square, checked."""
    number = as_integer(side)
    if number is None or number < 1:
        raise ValueError(f"side must be a positive integer, got {short_repr(side)}.")
    return number


def resize(image: np.ndarray, side: int) -> np.ndarray:
    """(..., height, width, channels) uint8 to (..., side, side, channels) uint8.

    >>> resize(np.array([[[0], [10]], [[20], [31]]], np.uint8), 1)[:, :, 0]
    array([[15]], dtype=uint8)
    >>> resize(np.array([[[0], [16]]], np.uint8), 4)[0, :, 0]
    array([ 0,  4, 12, 16], dtype=uint8)
    """
    height, width = image.shape[-3:-1]
    total = weigh(weigh(image, side, -3), side, -2)
    area = taps(height, side)[2] * taps(width, side)[2]
    return ((2 * total + area) // (2 * area)).astype(np.uint8)


def center_square(image: np.ndarray) -> np.ndarray:
    """The largest square in the middle; an odd surplus leaves one pixel more at the bottom or the right."""
    height, width = image.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return image[top : top + side, left : left + side]


@lru_cache(maxsize=64)
def taps(n: int, m: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Which of n input pixels make each of m output pixels: indices (m, k), weights (m, k), and what a row sums to.

    >>> taps(2, 4)[:2]
    (array([[0, 0],
           [0, 1],
           [0, 1],
           [1, 1]]), array([[2, 6],
           [6, 2],
           [2, 6],
           [6, 2]]))
    """
    out = np.arange(m)[:, None]
    if m > n:
        before, past = np.divmod((2 * out + 1) * n - m, 2 * m)
        index, weights, total = np.hstack([before, before + 1]), np.hstack([2 * m - past, past]), 2 * m
    else:
        index = out * n // m + np.arange(-(-n // m) + 1)
        overlap = np.minimum((index + 1) * m, (out + 1) * n) - np.maximum(index * m, out * n)
        weights, total = np.maximum(overlap, 0), n
    index = np.clip(index, 0, n - 1)
    index.flags.writeable = weights.flags.writeable = False
    return index, weights, total


def weigh(values: np.ndarray, side: int, axis: int) -> np.ndarray:
    """Weighted sums along one axis, not yet divided; of uint8 in int32 where 255 times the weights' sum fits it.

    NumPy's `take` copies an array that is not contiguous, as the middle of a wide picture, at each call: here once.
    """
    index, weights, total_weight = taps(values.shape[axis], side)
    kind = np.int32 if values.dtype == np.uint8 and 255 * total_weight < 1 << 31 else np.int64
    values, weights = np.ascontiguousarray(values), weights.astype(kind)
    along = [1] * values.ndim
    along[axis] = side
    total = np.zeros((*values.shape[:axis], side, *values.shape[axis:][1:]), kind)
    for k in range(index.shape[1]):
        total += np.take(values, index[:, k], axis) * weights[:, k].reshape(along)
    return total
