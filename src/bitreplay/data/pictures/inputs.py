"""What a caller may pass as a picture: an array, the path of a file, a Pillow image, a torch tensor.

Neither Pillow nor torch is imported for this: whoever has such an object has imported them.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLOURS, WITH_ALPHA = (1, 3), (2, 4)


def as_pixels(image: Any, side: int) -> NDArray | None:
    """An array with the colours last; None if it is neither a picture nor an array of pictures."""
    if isinstance(image, np.ndarray):
        return None if image.dtype.kind in "OU" else image
    if isinstance(image, str | os.PathLike):
        from bitreplay.data.pictures.picture import read

        return read(os.fspath(image), side)
    if _is_a(image, "PIL.Image", "Image"):
        from bitreplay.data.pictures.picture import from_pillow

        return from_pillow(image)
    if _is_a(image, "torch", "Tensor"):
        return colours_last(image.detach().cpu().numpy())
    return None


def _is_a(value: Any, module: str, name: str) -> bool:
    """Whether it is an instance of a class that may not have been imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def colours_last(array: NDArray) -> NDArray:
    """Move the colours of (n, 3, height, width) or (3, height, width) last; other shapes stay."""
    if array.ndim in (3, 4) and array.shape[-3] in COLOURS:
        return np.moveaxis(array, -3, -1)
    return array


def colours_first(array: NDArray) -> bool:
    """Whether it looks like one picture (3, height, width), the order of torch."""
    return array.ndim == 3 and array.shape[0] == 3 and array.shape[2] not in (*COLOURS, *WITH_ALPHA)


def as_batch(array: NDArray) -> NDArray:
    """(n, height, width, 3 or 1) of one picture or many, in colour or grey; other shapes stay.

    Of three dimensions the last is the colours if it is 1 or 3; else they are n grey pictures, but 2 and 4 would be
    colours with transparency, which arrays may not have. Three grey pictures are refused: they may be the colours of
    one.
    """
    if array.ndim == 2:
        return array[None, :, :, None]
    if colours_first(array):
        raise ValueError(
            f"An array {array.shape} may be one picture with its colours first, or three grey ones: pass "
            "np.moveaxis(array, 0, -1) for the one, array[..., None] for the three."
        )
    if array.ndim == 3 and array.shape[2] not in WITH_ALPHA:
        return array[None] if array.shape[2] in COLOURS else array[..., None]
    return array
