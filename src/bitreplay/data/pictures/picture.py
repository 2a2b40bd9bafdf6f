"""A picture from its file or its bytes: upright RGB pixels, or an error that names it.

A decoder may fail in any way on damaged bytes, so whatever it raises becomes a ValueError of one sentence. Loaders of
data sets take a callback for it: `refuse` raises the error, another may note it and leave the picture out.
"""

import re
import time
from calendar import timegm
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay.arguments import path_of
from bitreplay.data.pictures.colour import check_mode, upright
from bitreplay.data.pictures.formats import open_picture
from bitreplay.data.pictures.resize import side_of
from bitreplay.data.regular import read_bytes

MIN_SIDE = 256
EXIF, DATE_TIME_ORIGINAL, DATE_TIME = 0x8769, 0x9003, 0x0132
Unreadable = Callable[[ValueError], None]


def refuse(error: ValueError) -> None:
    raise error


def read(path: str | Path, side: int = MIN_SIDE) -> np.ndarray:
    """Read a picture from a file.

    Parameters
    ----------
    path : str or Path
        A JPEG, PNG, WebP, BMP, GIF, TIFF, PPM or, with the extras `avif` and `heic`, AVIF or HEIC file.
    side : int, default 256
        The side of the square that the picture will be resized to. A JPEG of more than four million pixels is decoded
        at 1/8, 1/4 or 1/2, with its shorter side at least this and at least 256.

    Returns
    -------
    ndarray of uint8
        (height, width, 3), upright.

    Raises
    ------
    ValueError
        If it cannot be read as a picture.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> file = Path(tempfile.mkdtemp()) / "kiwi.png"
    >>> Image.new("RGB", (40, 30), (90, 120, 30)).save(file)
    >>> pixels = read(file)
    >>> pixels.shape, pixels[0, 0].tolist()
    ((30, 40, 3), [90, 120, 30])
    """
    file, side = path_of(path, "A picture"), side_of(side)
    if address := web_address(file):
        raise ValueError(f"{address} is a web address, and only files are read: download it first.")
    try:
        content = read_bytes(file)
    except ValueError as error:
        raise _unreadable(str(file), error) from None
    return decode(content, str(file), side)


def web_address(path: str | Path) -> str | None:
    """The address, if the path is one; as a path it has lost a slash.

    >>> web_address(Path("https://example.org/kiwi.jpg"))
    'https://example.org/kiwi.jpg'
    """
    match = re.match(r"(https?:)/+(.*)", str(path))
    return f"{match[1]}//{match[2]}" if match else None


def decode(content: bytes, title: str, side: int = MIN_SIDE) -> np.ndarray:
    """As `read`, from the bytes of a file; errors call it `title`."""
    try:
        with open_picture(content, max(MIN_SIDE, side)) as image:
            check_mode(image)
            return upright(image)
    except Exception as error:
        raise _unreadable(title, error) from error


def time_taken(path: str | Path) -> float | None:
    """When a photograph was taken, in seconds by the camera's clock; None if its file does not say."""
    try:
        with open_picture(read_bytes(path_of(path, "A picture")), MIN_SIDE) as image:
            exif = image.getexif()
            text = exif.get_ifd(EXIF).get(DATE_TIME_ORIGINAL) or exif.get(DATE_TIME)
            return float(timegm(time.strptime(str(text).strip("\0 "), "%Y:%m:%d %H:%M:%S")))
    except Exception:  # damaged or missing: the picture may still be read
        return None


def from_pillow(image: Any) -> np.ndarray:
    """The pixels of a Pillow image, by the same rules as those of a file."""
    try:
        check_mode(image)
        return upright(image)
    except Exception as error:
        raise _unreadable("A Pillow image", error) from error


def _unreadable(title: str, error: Exception) -> ValueError:
    why = " ".join(str(error).split()) or type(error).__name__
    return ValueError(f"{title} cannot be read as a picture: {why[:200].rstrip('.')}.")
