"""Picture files to pictures of the model's size, one at a time: 12 megapixels take 36 MB, 224 by 224 pixels 150 KB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay import door
from bitreplay.data.folder import read_picture
from bitreplay.data.picture import Unreadable


def fitted(paths: Iterable[Path], side: int, unreadable: Unreadable) -> Iterator[tuple[Path, NDArray[np.uint8]]]:
    """Each file with its picture (1, side, side, 3). `unreadable` is told of the others; if it returns, they are left
    out."""
    for path in paths:
        try:
            picture = _fitted(path, side)
        except ValueError as error:
            unreadable(error)
        else:
            yield path, picture


def _fitted(path: Path, side: int) -> NDArray[np.uint8]:
    pixels = read_picture(path)
    height, width, _ = pixels.shape
    if max(height, width) > door.LARGEST_SIDE:
        most = f"at most {door.LARGEST_SIDE} pixels high and wide, got {height} by {width}"
        raise ValueError(f"{path} cannot be used as a picture: it must be {most}.")
    return door.pictures(pixels, side)
