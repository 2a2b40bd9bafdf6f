"""The augmentation of CIFAR: pad, random crop to the old size, random horizontal flip; uint8 in, uint8 out."""

from __future__ import annotations

import numpy as np


def crop_and_flip(images: np.ndarray, rng: np.random.Generator, pad: int = 4, fill: int = 128) -> np.ndarray:
    """Shift each image by up to `pad` pixels each way and mirror it with probability 1/2.

    Pixels from outside are `fill`. Zero on the scale [-1, 1] lies between 127 and 128.
    Drawn in this order, one value per sample: rows down, columns right, flips.
    """
    count = len(images)
    down = rng.integers(0, 2 * pad + 1, size=(count, 1))
    right = rng.integers(0, 2 * pad + 1, size=(count, 1))
    flip = rng.integers(0, 2, size=(count, 1))
    return shift_and_flip(images, down, right, flip, pad, fill)


def shift_and_flip(
    images: np.ndarray, down: np.ndarray, right: np.ndarray, flip: np.ndarray, pad: int = 4, fill: int = 128
) -> np.ndarray:
    """The window of each padded image that begins at (down, right), mirrored where flip is 1; all three are (n, 1)."""
    count, height, width, _ = images.shape
    padded = np.pad(images, ((0, 0), (pad, pad), (pad, pad), (0, 0)), constant_values=fill)
    rows = down + np.arange(height)
    columns = np.arange(width)
    columns = right + np.where(flip, columns[::-1], columns)
    return padded[np.arange(count)[:, None, None], rows[:, :, None], columns[:, None, :]]
