"""Pictures byte by byte: what no program writes, and what Pillow does not."""

from __future__ import annotations

import struct
import zlib
from typing import Literal

import numpy as np


def png(width: int, height: int, depth: int, colour: int, rows: bytes, *others: tuple[bytes, bytes]) -> bytes:
    """A PNG of rows that begin with their filter byte; `others` are chunks before the pixels."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    chunks = [(b"IHDR", head), *others, (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


def png_of(pixels: np.ndarray, colour: int, *others: tuple[bytes, bytes]) -> bytes:
    """uint8 or uint16 (height, width, channels)."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.astype(pixels.dtype.newbyteorder(">")).tobytes() for row in pixels)
    return png(width, height, 8 * pixels.dtype.itemsize, colour, rows, *others)


def tiff(
    pixels: np.ndarray, photometric: int, sample_format: int = 1, order: Literal["<", ">"] = "<", **tags: int
) -> bytes:
    """An uncompressed TIFF of one strip, (height, width, channels); `tags` as t322=16 are added."""
    height, width, channels = pixels.shape
    content = pixels.astype(pixels.dtype.newbyteorder(order)).tobytes()
    bits = 8 * pixels.dtype.itemsize
    rows = {256: width, 257: height, 258: bits, 259: 1, 262: photometric, 273: 8, 277: channels, 278: height,
            279: len(content), 339: sample_format} | {int(name[1:]): value for name, value in tags.items()}  # fmt: skip
    head = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", 42, 8 + len(content))
    entries, after = b"", b""
    place = 8 + len(content) + 2 + 12 * len(rows) + 4
    for tag, value in sorted(rows.items()):
        if tag in (258, 339) and channels > 2:
            entries += struct.pack(f"{order}HHII", tag, 3, channels, place + len(after))
            after += struct.pack(f"{order}{channels}H", *[value] * channels)
        else:
            entries += struct.pack(f"{order}HHII", tag, 4, 1, value)
    return head + content + struct.pack(f"{order}H", len(rows)) + entries + b"\0\0\0\0" + after


def jpeg_of_scans(good: bytes, count: int) -> bytes:
    """A progressive JPEG whose last scan stands there `count` times."""
    last = good.rindex(b"\xff\xda")
    return good[:last] + (good[last:-2]) * count + good[-2:]


def webp_lossless(width: int, height: int) -> bytes:
    """The head of a WebP of so many pixels, and no pixels."""
    data = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + b"\0" * 9
    return b"RIFF" + struct.pack("<I", 12 + len(data)) + b"WEBPVP8L" + struct.pack("<I", len(data)) + data
