"""Picture fitting: uint8 pictures of any size become the square that a backbone expects.

Accepted: an array (n, height, width, 3), one picture (height, width, 3), the same in grey without the 3 (but not
three of them, inputs.py), or any iterable of pictures: a list, a generator, a column of a table. Each of those is an
array, a path, a Pillow image or a tensor (inputs.py). A picture is cropped to its middle square and resized by
data/pictures/fit.py in integers, so that two devices agree from the first pixel. Anything else raises ValueError.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set, Sized
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.data.pictures.ahead import ahead
from bitreplay.data.pictures.fit import fit
from bitreplay.data.pictures.inputs import COLOURS, as_batch, as_pixels, colours_first
from bitreplay.data.pictures.resize import LARGEST_SIDE

Tell = Callable[[int, int], None]


def fit_pictures(images: Any, side: int, tell: Tell = lambda done, total: None) -> NDArray[np.uint8]:
    """(n, side, side, 3), a copy that shares no memory with the caller's arrays.

    `tell` is called with the number of pictures done and in all (0: not known); it may stop the work by raising.
    """
    array = as_pixels(images, side)
    if array is not None:
        return _fit_batch(as_batch(array), side, tell)
    if not isinstance(images, Iterable) or isinstance(images, bytes | Mapping | Set):
        kinds = "arrays, paths, Pillow images or tensors"
        raise ValueError(f"Pictures must be {kinds}, one or many of them, got {type(images).__name__}.")
    total, squares = len(images) if isinstance(images, Sized) else 0, list[NDArray[np.uint8]]()
    for image, of_file in _begun(images, side):
        tell(len(squares), total)
        squares.append(of_file() if of_file else _fit_one(image, side, len(squares)))
    if not squares:
        raise ValueError("There are no pictures: got an empty list.")
    return np.concatenate(squares)


def _begun(images: Iterable[Any], side: int) -> Iterator[tuple[Any, Callable[[], NDArray[np.uint8]] | None]]:
    """Each image; files are read ahead. What lies in memory may be changed by who reads it, so it stays on its
    thread."""
    for are_paths, run in groupby(images, lambda image: isinstance(image, str | os.PathLike)):
        if are_paths:
            yield from ahead(lambda path: fit_pictures(path, side), run)
        else:
            yield from ((image, None) for image in run)


def _fit_one(image: Any, side: int, number: int) -> NDArray[np.uint8]:
    array = as_pixels(image, side)
    if array is None:
        raise ValueError(f"Picture {number} must be an array, a path, a Pillow image or a tensor, "
                         f"got {type(image).__name__}.")  # fmt: skip
    if array.ndim != 2 and not (array.ndim == 3 and array.shape[2] in COLOURS):
        turned = "; np.moveaxis(array, 0, -1) puts its colours last" if colours_first(array) else ""
        raise ValueError(f"Picture {number} must have the shape (height, width, 3), got {array.shape}{turned}.")
    return _fit_batch(as_batch(array), side)


def _fit_batch(images: NDArray, side: int, tell: Tell = lambda done, total: None) -> NDArray[np.uint8]:
    if images.dtype != np.uint8:
        raise ValueError(f"Pictures must be uint8, 0 to 255, got {images.dtype}.")
    if images.ndim != 4 or images.shape[3] not in COLOURS:
        turned = (
            "; np.moveaxis(array, 1, -1) puts their colours last" if images.ndim == 4 and images.shape[1] == 3 else ""
        )
        raise ValueError(f"Pictures must have the shape (n, height, width, 3), got {images.shape}{turned}.")
    count, height, width, _ = images.shape
    if count == 0:
        raise ValueError("There are no pictures: got an empty array.")
    if not (1 <= height <= LARGEST_SIDE and 1 <= width <= LARGEST_SIDE):
        raise ValueError(f"Pictures must be 1 to {LARGEST_SIDE} pixels high and wide, got {height} by {width}.")
    if (height, width) == (side, side):
        return np.repeat(images, 3, axis=3) if images.shape[3] == 1 else np.array(images)
    squares = np.empty((count, side, side, 3), np.uint8)
    for number, image in enumerate(images):
        tell(number, count)
        squares[number] = fit(image if image.shape[2] == 3 else image.repeat(3, axis=2), side)
    return squares
