"""The middle square of a picture, resized to the network's input by the core (core/src/learner/fit.cc), as on devices.

resize.py is its reference, and takes its place where there is no core.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.core import available
from bitreplay.core.interface import br_picture
from bitreplay.data.pictures.resize import center_square, resize


def fit(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """(height, width, 3) to (side, side, 3); both sides of the picture are 1 to 16,384.

    >>> fit(np.array([[[0], [10], [255]], [[20], [31], [255]]], np.uint8).repeat(3, axis=2), 1)[0, 0]
    array([15, 15, 15], dtype=uint8)
    """
    core = available()
    square = center_square(image)
    if core is None:
        return resize(square, side)
    if square.strides[1:] != (3, 1) or square.strides[0] < 3 * len(square):
        square = np.ascontiguousarray(square)
    fitted = np.empty((side, side, 3), np.uint8)
    picture = br_picture(square.ctypes.data, len(square), len(square), 3, square.strides[0])
    failed = core.br_fit(picture, side, fitted.ctypes.data)
    assert not failed, (failed, image.shape, side)
    return fitted
