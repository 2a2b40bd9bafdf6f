"""A picture from its bytes: upright RGB pixels, or an error that names it.

A decoder may fail in any way on damaged bytes, so whatever it raises becomes one sentence. Readers of whole sets are
given what to do then: `refuse` raises it, and something else may note it and leave the picture out.
"""

import io
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

Unreadable = Callable[[ValueError], None]


def refuse(error: ValueError) -> None:
    raise error


def decoded(content: bytes, title: str) -> np.ndarray:
    """(height, width, 3) uint8; turned upright if the picture says how it was held."""
    try:
        with Image.open(io.BytesIO(content)) as opened:
            pixels = np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))
    except UnidentifiedImageError:
        raise ValueError(f"{title} cannot be read as a picture: its format is not known.") from None
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{title} cannot be read as a picture: {why[:200].rstrip('.')}.") from error
    if pixels.ndim != 3 or 0 in pixels.shape:
        raise ValueError(f"{title} cannot be read as a picture: it has the shape {pixels.shape}.")
    return pixels
