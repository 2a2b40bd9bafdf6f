"""Picture fitting: uint8 pictures of any size become the square that a backbone expects.

Accepted: an array (n, height, width, 3), one picture (height, width, 3), or a list of pictures of different sizes. A
picture is cropped to its middle square and resized by data/pictures/resize.py in whole numbers, so that two devices
agree from the first pixel. Anything else is refused in one sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.data.pictures.resize import LARGEST_SIDE, center_square, resize

PIXELS_AT_ONCE = 1 << 20  # resizing works in int64: 24 bytes a pixel
Tell = Callable[[int, int], None]


def pictures(images: Any, side: int, tell: Tell = lambda done, total: None) -> NDArray[np.uint8]:
    """(n, side, side, 3); a copy that shares nothing with the caller's arrays.

    `tell` hears how many pictures are done before each that must be resized, and may stop it by raising.
    """
    if isinstance(images, list | tuple):
        if not images:
            raise ValueError("There are no pictures: got an empty list.")
        fitted = []
        for number, image in enumerate(images):
            tell(number, len(images))
            fitted.append(pictures(_single(number, image), side))
        return np.concatenate(fitted)
    if not isinstance(images, np.ndarray):
        raise ValueError(f"Pictures must be a uint8 array or a list of them, got {type(images).__name__}.")
    if images.dtype != np.uint8:
        raise ValueError(f"Pictures must be uint8, 0 to 255, got {images.dtype}.")
    if images.ndim == 3 and images.shape[2] == 3:
        images = images[None]
    if images.ndim != 4 or images.shape[3] != 3:
        raise ValueError(f"Pictures must have the shape (n, height, width, 3), got {images.shape}.")
    count, height, width, _ = images.shape
    if count == 0:
        raise ValueError("There are no pictures: got an array of none.")
    if not (1 <= height <= LARGEST_SIDE and 1 <= width <= LARGEST_SIDE):
        raise ValueError(f"Pictures must be 1 to {LARGEST_SIDE} pixels high and wide, got {height} by {width}.")
    if (height, width) == (side, side):
        return images.copy()
    found = np.empty((count, side, side, 3), np.uint8)
    at_once = max(1, PIXELS_AT_ONCE // (height * width))
    for start in range(0, count, at_once):
        tell(start, count)
        part = images[start : start + at_once]
        square = center_square(part.transpose(1, 2, 0, 3)).transpose(2, 0, 1, 3)
        found[start : start + at_once] = resize(square, side)
    return found


def _single(number: int, image: Any) -> Any:
    if isinstance(image, np.ndarray) and image.ndim != 3:
        raise ValueError(f"Picture {number} must have the shape (height, width, 3), got {image.shape}.")
    return image
