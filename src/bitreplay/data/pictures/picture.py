"""A picture from its file or its bytes: upright RGB pixels, or an error that names it.

A decoder may fail in any way on damaged bytes, so whatever it raises becomes one sentence. Readers of whole sets are
given what to do then: `refuse` raises it, and something else may note it and leave the picture out.
"""

import time
from calendar import timegm
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay.arguments import path_of
from bitreplay.data.pictures.colour import check_mode, upright
from bitreplay.data.pictures.formats import opened
from bitreplay.data.pictures.resize import side_of
from bitreplay.data.regular import content_of

KEPT = 256
EXIF, DATE_TIME_ORIGINAL, DATE_TIME = 0x8769, 0x9003, 0x0132
Unreadable = Callable[[ValueError], None]


def refuse(error: ValueError) -> None:
    raise error


def read(path: str | Path, side: int = KEPT) -> np.ndarray:
    """The pixels of a file, (height, width, 3) uint8, upright.

    A JPEG of more than four million pixels is decoded at 1/8, 1/4 or 1/2, while its shorter side keeps 256 pixels, or
    `side` if that is more: the side of the square that the picture will be fitted to.
    """
    place, side = path_of(path, "A picture"), side_of(side)
    try:
        content = content_of(place)
    except ValueError as error:
        raise _unreadable(str(place), error) from None
    return decoded(content, str(place), side)


def decoded(content: bytes, title: str, side: int = KEPT) -> np.ndarray:
    """The same from the bytes of a file; errors name it by `title`."""
    try:
        with opened(content, max(KEPT, side)) as image:
            check_mode(image)
            return upright(image)
    except Exception as error:
        raise _unreadable(title, error) from error


def taken(path: str | Path) -> float | None:
    """Seconds, by the camera's clock, at which a photograph was taken, if its file says so."""
    try:
        with opened(content_of(path_of(path, "A picture")), KEPT) as image:
            exif = image.getexif()
            text = exif.get_ifd(EXIF).get(DATE_TIME_ORIGINAL) or exif.get(DATE_TIME)
            return float(timegm(time.strptime(str(text).strip("\0 "), "%Y:%m:%d %H:%M:%S")))
    except Exception:  # damaged or missing: the picture may still be read
        return None


def of_pillow(image: Any) -> np.ndarray:
    """The same of a Pillow image, read by the rules of files."""
    try:
        check_mode(image)
        return upright(image)
    except Exception as error:
        raise _unreadable("A Pillow image", error) from error


def _unreadable(title: str, error: Exception) -> ValueError:
    why = " ".join(str(error).split()) or type(error).__name__
    return ValueError(f"{title} cannot be read as a picture: {why[:200].rstrip('.')}.")
