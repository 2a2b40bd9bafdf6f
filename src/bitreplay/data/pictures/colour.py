"""The pixels of an opened picture as upright RGB, 8 bits each; docs/pictures.md has the rules.

Rows are converted a strip at a time, so that nothing large is held beside the decoded picture and the result.
"""

import numpy as np
from PIL import Image

STRIP = 1 << 16  # pixels: of more, memory would be taken from the system and given back for each strip
PLAIN = ("1", "L", "P", "RGB", "CMYK", "YCbCr")
WITH_ALPHA = ("LA", "PA", "RGBA", "La", "RGBa")
SIXTEEN_BITS = ("I;16", "I;16L", "I;16B", "I;16N")
ORIENTATION, PHOTOMETRIC, SAMPLE_FORMAT = 0x0112, 262, 339
UNSIGNED, WHITE_IS_ZERO = 1, 0
TURNS = {
    2: lambda pixels: pixels[:, ::-1], 3: lambda pixels: pixels[::-1, ::-1], 4: lambda pixels: pixels[::-1],
    5: lambda pixels: pixels.transpose(1, 0, 2), 6: lambda pixels: pixels.transpose(1, 0, 2)[:, ::-1],
    7: lambda pixels: pixels[::-1, ::-1].transpose(1, 0, 2), 8: lambda pixels: pixels.transpose(1, 0, 2)[::-1],
}  # fmt: skip


def check_mode(image: Image.Image) -> None:
    """Refuse pixels whose values for black and white are not known."""
    tags = getattr(image, "tag_v2", {})
    kinds = tags.get(SAMPLE_FORMAT, (UNSIGNED,))
    signed = any(kind != UNSIGNED for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
    if signed or image.mode not in PLAIN + WITH_ALPHA + SIXTEEN_BITS:
        if not (image.mode == "I" and image.format == "PNG"):  # how older versions of Pillow give 16 bits
            kind = "signed numbers" if signed and image.mode != "F" else f"pixels of the kind {image.mode}"
            raise ValueError(f"it has {kind}, whose black and white are not known; save it with 8 or 16 bits")


def upright(image: Image.Image) -> np.ndarray:
    """(height, width, 3) uint8, contiguous, turned upright by the EXIF orientation."""
    image.load()
    width, height = image.size
    tags = getattr(image, "tag_v2", {})
    inverted = image.mode in SIXTEEN_BITS and tags.get(PHOTOMETRIC) == WHITE_IS_ZERO
    pixels = np.empty((height, width, 3), np.uint8)
    rows = max(1, STRIP // width)
    for top in range(0, height, rows):
        strip = image.crop((0, top, width, min(top + rows, height)))
        pixels[top : top + rows] = _rgb(strip)
    if inverted:
        np.subtract(255, pixels, out=pixels)
    turn = TURNS.get(_orientation(image))
    return pixels if turn is None else np.ascontiguousarray(turn(pixels))


def _rgb(strip: Image.Image) -> np.ndarray:
    if strip.mode in SIXTEEN_BITS or strip.mode == "I":
        grey = np.asarray(strip)
        pixels = (grey >> 8).astype(np.uint8)
        clear = strip.info.get("transparency")
        if isinstance(clear, int):
            pixels[grey == clear] = 255
        return pixels[:, :, None]
    if strip.mode in WITH_ALPHA or strip.has_transparency_data:
        return over_white(np.asarray(strip.convert("RGBA")))
    return np.asarray(strip.convert("RGB"))


def over_white(pixels: np.ndarray) -> np.ndarray:
    """RGBA over white: floor((c a + 255 (255 - a) + 127) / 255), below 2^16 at every step.

    >>> over_white(np.array([[[10, 20, 30, 255], [10, 20, 30, 0], [0, 100, 200, 128]]], np.uint8)).tolist()
    [[[10, 20, 30], [255, 255, 255], [127, 177, 227]]]
    """
    colour, alpha = pixels[..., :3].astype(np.uint16), pixels[..., 3:].astype(np.uint16)
    return ((colour * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation; damaged EXIF is ignored, as in any viewer."""
    try:
        orientation = image.getexif().get(ORIENTATION)
    except Exception:
        return 1
    return orientation if isinstance(orientation, int) else 1
