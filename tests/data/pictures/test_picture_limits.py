"""Sides, pixels and memory are checked before a picture is decoded."""

import io
import struct

import numpy as np
import pytest
from PIL import Image

from bitreplay.data.pictures.formats import MAX_COPIED, MAX_PIXELS
from bitreplay.data.pictures.jpeg import passes
from bitreplay.data.pictures.picture import decode
from tests.data.pictures.handmade import jpeg_of_scans, png, tiff, webp_lossless
from tests.data.pictures.peak import peaks_above_base

SMALL = np.random.default_rng(0).integers(0, 256, (48, 40, 3), dtype=np.uint8)
READING = """
from bitreplay.data.pictures.picture import decode
def work(path, words):
    try:
        decode(open(path, "rb").read(), "a")
    except ValueError as error:
        assert words in str(error), error
    else:
        assert False, path
"""


def jpeg(width: int = 40, height: int = 48, **options) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(SMALL).resize((width, height)).save(stream, "JPEG", **options)
    return stream.getvalue()


def claimed(content: bytes, width: int, height: int) -> bytes:
    """A JPEG whose frame says so."""
    at = max(content.find(b"\xff\xc0"), content.find(b"\xff\xc2"))
    return content[: at + 5] + struct.pack(">HH", height, width) + content[at + 9 :]


TINY_PNG = png(13000, 13000, 8, 2, b"")
BOMBS = {
    "png": (TINY_PNG, "at most 67108864 pixels of such a PNG are read"),
    "small png": (png(8000, 8000, 8, 6, b""), "bytes are too few for the 8000x8000 pixels that it claims"),
    "full png": (png(16000, 16000, 8, 2, b"\0" * 48001 * 16), "at most 67108864 pixels of such a PNG are read"),
    "wide png": (png(1 << 20, 1, 1, 0, b""), "it is 1048576x1; at most 16384 pixels high and wide are read"),
    "gif": (b"GIF89a" + struct.pack("<HH", 16000, 16000) + b"\0\0\0,\0\0\0\0" + struct.pack("<HH", 16000, 16000)
            + b"\0\x08\0;", "at most 67108864 pixels of such a GIF are read"),
    "webp": (webp_lossless(16000, 16000), "cannot be read"),
    "smaller webp": (webp_lossless(6000, 6000), "it is 6000x6000; at most 33554432 pixels of such a WebP are read"),
    "progressive": (claimed(jpeg(progressive=True), 12000, 12000), "at most 67108864 pixels of such a JPEG are read"),
    "scans": (claimed(jpeg_of_scans(jpeg(progressive=True), 250), 8000, 8000), "scans, which is more than is read"),
    "tiles": (tiff(SMALL, 2, t322=1 << 16, t323=1 << 15, t324=8, t325=100), "its tiles are 65536x32768"),
    "tiff": (tiff(SMALL, 2, t256=16000, t257=16000), "at most 67108864 pixels of such a TIFF are read"),
}  # fmt: skip


def test_a_small_file_takes_little_memory(tmp_path):
    for name, (content, _) in BOMBS.items():
        (tmp_path / name).write_bytes(content)
        assert len(content) < 100_000
    result = peaks_above_base(READING, [(tmp_path / name, words) for name, (_, words) in BOMBS.items()])
    assert {name: size for name, size in zip(BOMBS, result, strict=True) if size > 40 << 20} == {}


def test_the_smallest_bomb_is_small():
    assert len(TINY_PNG) < 80


@pytest.mark.parametrize("extra", [0, 1])
def test_what_is_read_and_what_not_lie_side_by_side(extra):
    assert (MAX_PIXELS, MAX_COPIED) == (8192 * 8192, 4096 * 8192)
    for content in (png(8192, 8192 + extra, 1, 0, b"") + b"\0" * 9000, webp_lossless(4096, 8192 + extra)):
        with pytest.raises(ValueError) as error:
            decode(content, "a")
        assert ("at most" in str(error.value)) == bool(extra)


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (jpeg(), 1),
        (jpeg(restart_marker_blocks=1), 1),
        (jpeg(exif=b"Exif\0\0MM\0*" + b"\xff\xda\xff\xc2\xff\xd9" * 9), 1),
        (jpeg(progressive=True), 10),
        (jpeg(progressive=True) + jpeg(progressive=True), 10),
        (jpeg_of_scans(jpeg(progressive=True), 30), 39),
        (jpeg(progressive=True).replace(b"\xff\xda", b"\xff\xfe\0\x06\xff\xd9\xff\xda\xff\xff\xda", 1), 10),
        (b"\xff\xd8\xff", 1),
        (b"\xff\xd8\xff\xc2\0\x11", 2),
        (jpeg()[:-2] + b"\xff", 1),
        (b"", 1),
    ],
)
def test_passes_are_the_scans_of_what_is_held_whole(content, count):
    assert passes(content) == count


def test_a_scan_for_each_colour_is_held_whole_too():
    content = jpeg(subsampling=0)
    at = content.index(b"\xff\xda")
    single = b"\xff\xda\0\x08\x01\x01\0\0\x3f\0"
    assert passes(content[:at] + single * 3 + b"\xff\xd9") == 3
