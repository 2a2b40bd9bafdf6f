"""Which pictures are read: each format is recognised by its first bytes and read by Pillow's reader for it.

Pillow has more than forty readers and chooses by content; one of them runs another program. Here a reader is called by
name, and the size that a picture claims is checked before it is decoded.
"""

import importlib
import io
from typing import Any

from PIL import Image

from bitreplay.data.pictures import jpeg
from bitreplay.data.pictures.resize import LARGEST_SIDE

MAX_PIXELS = 1 << 26  # up to 10 bytes each while it is decoded
MAX_COPIED = 1 << 25  # of WebP and AVIF, which are decoded on canvases of their own and copied: 16 bytes
MAX_PIXEL_PASSES = 1 << 30  # pixels times passes over them
MAX_INFLATED = 1032  # bytes that deflate makes of one; a PNG has at least a bit per pixel
SUFFIXES = (
    ".avif", ".bmp", ".gif", ".heic", ".heif", ".jfif", ".jpe", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif",
    ".tiff", ".webp",
)  # fmt: skip
READERS = {
    "JPEG": "Jpeg", "PNG": "Png", "WebP": "WebP", "BMP": "Bmp", "GIF": "Gif", "TIFF": "Tiff", "PPM": "Ppm",
}  # PIL.JpegImagePlugin.JpegImageFile, imported with the first JPEG # fmt: skip
FIRST_BYTES = {
    b"\xff\xd8\xff": "JPEG", b"\x89PNG\r\n\x1a\n": "PNG", b"BM": "BMP", b"GIF87a": "GIF", b"GIF89a": "GIF",
    b"P5": "PPM", b"P6": "PPM",
    b"II*\0": "TIFF", b"MM\0*": "TIFF", b"II+\0": "TIFF", b"MM\0+": "TIFF",
}  # fmt: skip
AVIF_BRANDS = (b"avif", b"avis")
HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
TILE_WIDTH, TILE_LENGTH = 322, 323


def format_of(content: bytes) -> str:
    """The name of the format; raises ValueError for one that is not read."""
    for first, name in FIRST_BYTES.items():
        if content.startswith(first):
            return name
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "WebP"
    if content[4:8] == b"ftyp" and content[8:12] in AVIF_BRANDS:
        return "AVIF"
    if content[4:8] == b"ftyp" and content[8:12] in HEIC_BRANDS:
        return "HEIC"
    raise ValueError(f"its format is unknown; expected {', '.join(READERS)}, AVIF or HEIC")


def open_picture(content: bytes, min_side: int) -> Image.Image:
    """The picture, its size checked, not yet decoded; a large JPEG will be scaled down, but not below `min_side`."""
    name = format_of(content)
    image = _reader(name)(io.BytesIO(content))
    width, height = image.size
    if not (1 <= width <= LARGEST_SIDE and 1 <= height <= LARGEST_SIDE):
        raise ValueError(f"it is {width}x{height}; at most {LARGEST_SIDE} pixels high and wide are read")
    passes = jpeg.passes(content) if name == "JPEG" else 1
    max_pixels = MAX_COPIED if name in ("WebP", "AVIF") else MAX_PIXELS
    if name == "JPEG" and passes == 1:
        max_pixels = LARGEST_SIDE**2
    if width * height > max_pixels:
        raise ValueError(f"it is {width}x{height}; at most {max_pixels} pixels of such a {name} are read")
    if passes * width * height > MAX_PIXEL_PASSES:
        raise ValueError(f"it is a JPEG of {width}x{height} in {passes} scans, which is more than is read")
    max_claimed = {"PNG": 8 * MAX_INFLATED, "PPM": 1}.get(name)
    if max_claimed and width * height > max_claimed * len(content):
        raise ValueError(f"its {len(content)} bytes are too few for the {width}x{height} pixels that it claims")
    if name == "TIFF":
        _check_tiles(image)
    if name == "PPM" and (image.tile[0][0] != "raw" or image.mode not in ("L", "RGB")):
        raise ValueError("its largest value is not 255, as in the PPM files that are read")
    if name == "JPEG":
        jpeg.reduce(image, min_side)
    return image


def _check_tiles(image: Any) -> None:
    """A tile is decoded as a whole, however little of it the picture covers."""
    sides = [image.tag_v2.get(tag, 1) for tag in (TILE_WIDTH, TILE_LENGTH)]
    if not all(isinstance(side, int) and 1 <= side <= LARGEST_SIDE for side in sides) or (
        sides[0] * sides[1] > MAX_PIXELS
    ):
        raise ValueError(f"its tiles are {sides[0]}x{sides[1]}; at most {MAX_PIXELS} pixels are read")


def _reader(name: str) -> Any:
    """Pillow's reader, or a sentence that names the extra which has it."""
    if name == "HEIC":
        try:
            return importlib.import_module("pillow_heif.as_plugin").HeifImageFile
        except ImportError:
            raise ValueError("HEIC needs the package pillow-heif: pip install 'bitreplay[heic]'") from None
    if name == "AVIF":
        try:
            from PIL.AvifImagePlugin import SUPPORTED, AvifImageFile
        except ImportError:
            SUPPORTED = False
        if not SUPPORTED:
            raise ValueError("AVIF needs Pillow 11.3 or later: pip install 'bitreplay[avif]'")
        return AvifImageFile
    return getattr(importlib.import_module(f"PIL.{READERS[name]}ImagePlugin"), f"{READERS[name]}ImageFile")
