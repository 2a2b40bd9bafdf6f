"""Fresh views of new pictures for every step: moved by up to 1/8 of their side each way, and mirrored or not.

The paper's augmentation of CIFAR (pad 4 at 32x32), drawn by the counter generator, so that a step repeated after a loss
of power sees the same pixels on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.counter import key, random_bits

VIEW = 0x5EED0004
OUTSIDE = 128  # zero on the scale [-1, 1] lies between 127 and 128


def augmented(images: NDArray[np.uint8], seed: int, step: int) -> NDArray[np.uint8]:
    pad = images.shape[1] // 8
    random = random_bits(key(seed, step, VIEW), np.arange(3 * len(images), dtype=np.uint32)).reshape(3, -1, 1)
    places = random.astype(np.uint64) * np.array([2 * pad + 1, 2 * pad + 1, 2], np.uint64).reshape(3, 1, 1)
    down, right, flip = (places >> np.uint64(32)).astype(np.int64)
    return shift_and_flip(images, down, right, flip, pad)


def shift_and_flip(
    images: NDArray[np.uint8], down: NDArray, right: NDArray, flip: NDArray, pad: int
) -> NDArray[np.uint8]:  # fmt: skip
    """The window of each padded image that begins at (down, right), mirrored where flip is 1; all three are (n, 1)."""
    count, height, width, _ = images.shape
    padded = np.pad(images, ((0, 0), (pad, pad), (pad, pad), (0, 0)), constant_values=OUTSIDE)
    rows = down + np.arange(height)
    columns = np.arange(width)
    columns = right + np.where(flip, columns[::-1], columns)
    return padded[np.arange(count)[:, None, None], rows[:, :, None], columns[:, None, :]]
