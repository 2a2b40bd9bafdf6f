"""Fit a picture of any size to a square of a given side, in whole numbers and exactly.

Area average: output pixel i of m covers the input interval [i n/m, (i+1) n/m). Measured in units of 1/m, input pixel j
covers [j m, (j+1) m), so every overlap is a whole number and the weights of one output pixel sum to n. Rows and
columns together:  out = floor((2 sum + n_h n_w) / (2 n_h n_w)),  the mean with halves rounded up.
Sums stay below 2^8 n_h n_w, far inside int64.
"""

import numpy as np


def resize(image: np.ndarray, side: int) -> np.ndarray:
    """(height, width, 3) uint8 to (side, side, 3) uint8.

    >>> resize(np.array([[[0], [10]], [[20], [31]]], np.uint8), 1)[:, :, 0]
    array([[15]], dtype=uint8)
    """
    height, width = image.shape[:2]
    total = interval_sums(interval_sums(image, side).swapaxes(0, 1), side).swapaxes(0, 1)
    area = height * width
    return ((2 * total + area) // (2 * area)).astype(np.uint8)


def center_square(image: np.ndarray) -> np.ndarray:
    """The largest square in the middle; an odd surplus leaves one pixel more at the bottom or the right."""
    height, width = image.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return image[top : top + side, left : left + side]


def interval_sums(values: np.ndarray, count: int) -> np.ndarray:
    """Sums over `count` equal intervals of the first axis, in units of 1/count of an element."""
    length = len(values)
    sums = np.zeros((count, *values.shape[1:]), np.int64)
    for i in range(count):
        first, cut = divmod(i * length, count)
        last, reach = divmod((i + 1) * length, count)
        sums[i] = count * values[first:last].sum(axis=0, dtype=np.int64)
        sums[i] -= cut * values[first].astype(np.int64)
        if reach:
            sums[i] += reach * values[last].astype(np.int64)
    return sums
