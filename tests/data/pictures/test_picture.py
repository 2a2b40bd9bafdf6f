"""How each kind of picture is read, against NumPy on the pixels that were written; docs/pictures.md has the rules."""

import io
import os
import struct
import sys

import numpy as np
import pytest
from PIL import Image, ImageOps, features

from bitreplay.data.pictures.formats import SUFFIXES
from bitreplay.data.pictures.picture import decode, read
from tests.data.pictures.handmade import png, png_of, tiff

RNG = np.random.default_rng(0)
COLOURS = RNG.integers(0, 256, (5, 7, 3), dtype=np.uint8)
GREY16 = RNG.integers(0, 1 << 16, (5, 7, 1), dtype=np.uint16)
GREY16[0, :4, 0] = 0, 255, 256, 65535


def saved(image: Image.Image, kind: str, **options) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def same(content: bytes, expected: np.ndarray) -> None:
    result = decode(content, "a")
    assert result.dtype == np.uint8 and result.flags.c_contiguous
    np.testing.assert_array_equal(result, np.broadcast_to(expected, (*expected.shape[:2], 3)))


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "GIF", "PPM"])
def test_plain_pixels_stay_as_they_are(kind):
    same(saved(Image.fromarray(COLOURS), kind), COLOURS)
    same(saved(Image.fromarray(COLOURS[:, :, 0]), kind), COLOURS[:, :, :1])


def test_sixteen_bits_are_read_by_the_upper_eight():
    same(png_of(GREY16, 0), GREY16 >> 8)
    same(png_of(GREY16[:, :6].reshape(5, 2, 3), 2), GREY16[:, :6].reshape(5, 2, 3) >> 8)
    same(tiff(GREY16, 1, order="<"), GREY16 >> 8)
    same(tiff(GREY16, 1, order=">"), GREY16 >> 8)
    same(tiff(GREY16[:, :6].reshape(5, 2, 3), 2), GREY16[:, :6].reshape(5, 2, 3) >> 8)
    same(saved(Image.fromarray(COLOURS[:, :, 0].astype(np.uint16) * 257), "PNG"), COLOURS[:, :, :1])


def test_a_tiff_whose_white_is_zero_is_turned():
    same(tiff(GREY16, 0), 255 - (GREY16 >> 8))
    same(tiff(COLOURS[:, :, :1], 0), 255 - COLOURS[:, :, :1])


@pytest.mark.parametrize(
    ("kind", "sample_format", "words"),
    [
        (np.float32, 3, "pixels of the kind F"),
        (np.int32, 2, "signed numbers"),
        (np.int16, 2, "signed numbers"),
        (np.int8, 2, "signed numbers"),
    ],
)
def test_numbers_without_a_range_are_refused(kind, sample_format, words):
    content = tiff(np.ones((5, 7, 1), kind), 1, sample_format)
    with pytest.raises(ValueError, match=f"^a cannot be read as a picture: it has {words}, .*save it with 8 or 16"):
        decode(content, "a")


def over_white(colour: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """The oracle, in real numbers; no product of bytes by bytes lies half-way between two."""
    return np.rint((colour * (alpha / 255.0)) + 255.0 * (1 - alpha / 255.0)).astype(np.uint8)


def test_what_is_transparent_lies_on_white():
    alpha = RNG.integers(0, 256, (5, 7, 1), dtype=np.uint8)
    alpha[0, :3, 0] = 0, 255, 128
    same(png_of(np.concatenate([COLOURS, alpha], 2), 6), over_white(COLOURS, alpha))
    same(png_of(np.concatenate([COLOURS[:, :, :1], alpha], 2), 4), over_white(COLOURS[:, :, :1], alpha))
    webp = saved(Image.fromarray(np.concatenate([COLOURS, alpha], 2), "RGBA"), "WEBP", lossless=True, exact=True)
    same(webp, over_white(COLOURS, alpha))


def test_a_colour_that_counts_as_transparent_becomes_white():
    grey = np.array([[[0], [7], [200]]], np.uint8)
    same(png_of(grey, 0, (b"tRNS", b"\0\x07")), np.array([[[0], [255], [200]]]))
    same(png_of(grey.astype(np.uint16) * 256, 0, (b"tRNS", b"\x07\0")), np.array([[[0], [255], [200]]]))
    colours = np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8)
    same(png_of(colours, 2, (b"tRNS", b"\0\x04\0\x05\0\x06")), np.array([[[1, 2, 3], [255, 255, 255]]]))


def test_palettes_are_looked_up():
    palette = (b"PLTE", bytes([10, 20, 30, 40, 50, 60, 70, 80, 90]))
    numbers = np.array([[[0], [1], [2]]], np.uint8)
    colours = np.array([[[10, 20, 30], [40, 50, 60], [70, 80, 90]]])
    same(png_of(numbers, 3, palette), colours)
    colours[0, 1] = 255
    colours[0, 2] = over_white(colours[0, 2], np.array(128))
    same(png_of(numbers, 3, palette, (b"tRNS", b"\xff\0\x80")), colours)


def test_fewer_bits_span_the_whole_range():
    same(png(4, 1, 2, 0, b"\0\x1b"), np.array([[[0], [85], [170], [255]]]))
    same(png(2, 1, 4, 0, b"\0\x0f"), np.array([[[0], [255]]]))
    same(png(8, 1, 1, 0, b"\0\x81"), np.array([[[255], [0], [0], [0], [0], [0], [0], [255]]]))


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_inks_are_mixed_plainly(kind):
    inks = np.zeros((16, 16, 4), np.uint8) + np.array([200, 100, 0, 50], np.uint8)
    result = decode(saved(Image.fromarray(inks, "CMYK"), kind), "a")
    expected = (255 - inks[0, 0, :3].astype(int)) * (255 - 50) / 255
    assert np.abs(result.astype(int) - expected).max() <= 2


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF", "PNG", "MPO"])
def test_of_several_pictures_the_first_is_read(kind):
    first, second = (Image.new("RGB", (16, 16), (value, value, value)) for value in (40, 200))
    options = {"lossless": True} if kind == "WEBP" else {}
    content = saved(first, kind, save_all=True, append_images=[second], **options)
    same(content, np.full((16, 16, 3), 40))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(10))
def test_a_photograph_is_set_upright(kind, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    pixels = np.kron(COLOURS, np.ones((8, 8, 1), np.uint8))
    content = saved(Image.fromarray(pixels), kind, exif=exif, **({"lossless": True} if kind == "WEBP" else {}))
    with Image.open(io.BytesIO(content)) as image:
        same(content, np.asarray(ImageOps.exif_transpose(image).convert("RGB")))
    assert decode(content, "a").shape == ((56, 40, 3) if 5 <= orientation <= 8 else (40, 56, 3))


@pytest.mark.filterwarnings("ignore")
def test_exif_that_cannot_be_read_says_nothing():
    content = png_of(COLOURS, 2, (b"eXIf", b"MM\0*\xff\xff\xff\xff"))
    same(content, COLOURS)


@pytest.mark.filterwarnings("ignore")
def test_only_the_named_formats_are_opened(tmp_path):
    Image.init()
    written = []
    for kind in sorted(
        set(Image.SAVE) & set(Image.OPEN) - {"JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "MPO", "PPM", "AVIF"}
    ):
        try:
            (tmp_path / f"{kind}.png").write_bytes(saved(Image.fromarray(COLOURS), kind))
            written.append(kind)
        except Exception:  # some formats take no colours, or not without an encoder
            continue
        with pytest.raises(
            ValueError, match="its format is unknown; expected JPEG, PNG, WebP, BMP, GIF, TIFF, PPM, AVIF or"
        ):
            read(tmp_path / f"{kind}.png")
    assert {"TGA", "EPS", "ICO"} <= set(written)


def test_nothing_is_run_to_read_a_picture(tmp_path, monkeypatch):
    program = tmp_path / "gs"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/it-ran\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "a.png").write_bytes(saved(Image.fromarray(COLOURS), "EPS"))
    with pytest.raises(ValueError, match="its format is unknown"):
        read(tmp_path / "a.png")
    assert not (tmp_path / "it-ran").exists()


def test_the_suffix_does_not_matter_to_a_file_that_is_named(tmp_path):
    for suffix in (*SUFFIXES, "", ".txt"):
        (tmp_path / f"a{suffix}").write_bytes(png_of(COLOURS, 2))
        np.testing.assert_array_equal(read(tmp_path / f"a{suffix}"), COLOURS)
        np.testing.assert_array_equal(read(str(tmp_path / f"a{suffix}")), COLOURS)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"P6 2 1 255\n12345", "truncated|not enough"),
        (b"P6 1 1 65535\n123456", "largest value is not 255"),
        (b"P6 1 1 15\n123", "largest value is not 255"),
        (b"P5 1 1 65535\n12", "largest value is not 255"),
        (b"P6 9000 7000 255\n" + b"0" * 99, "too few for the 9000x7000 pixels"),
        (b"P3 1 1 255\n1 2 3", "its format is unknown"),
        (b"P6 # only a comment", "EOF|header"),
    ],
)
def test_a_ppm_has_one_byte_for_each_value_and_all_of_them(content, words):
    with pytest.raises(ValueError, match=words):
        decode(content, "a.ppm")


def test_an_avif_without_its_reader_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.AvifImagePlugin", None)
    with pytest.raises(ValueError, match=r"AVIF needs Pillow 11.3 or later: pip install 'bitreplay\[avif\]'"):
        decode(struct.pack(">I", 24) + b"ftypavif" + b"\0" * 12, "a.avif")


def test_an_avif_is_read_where_pillow_has_its_reader():
    if not features.check("avif"):
        pytest.skip("Pillow has no reader of AVIF here.")
    pixels = np.kron(COLOURS, np.ones((16, 16, 1), np.uint8))
    result = decode(saved(Image.fromarray(pixels), "AVIF"), "a.avif")
    assert result.shape == pixels.shape and np.abs(result.astype(int) - pixels).mean() < 20


def test_a_web_address_is_said_to_be_one():
    for address in ("https://example.org/a.jpg", "http://example.org/a.jpg"):
        with pytest.raises(ValueError, match=f"{address} is a web address, and only files are read"):
            read(address)


def test_an_heic_without_its_package_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif.as_plugin", None)
    with pytest.raises(ValueError, match="HEIC needs the package pillow-heif: pip install"):
        decode(struct.pack(">I", 24) + b"ftypheic" + b"\0" * 12, "a.heic")


def test_an_heic_is_read_where_its_package_is():
    heif = pytest.importorskip("pillow_heif")
    pixels = np.kron(COLOURS, np.ones((16, 16, 1), np.uint8))
    stream = io.BytesIO()
    heif.from_pillow(Image.fromarray(pixels)).save(stream, quality=-1, chroma=444, matrix_coefficients=0)
    result = decode(stream.getvalue(), "a.heic")
    assert result.shape == pixels.shape and np.abs(result.astype(int) - pixels).max() <= 2


@pytest.mark.parametrize(("path", "side", "words"), [(None, 8, "A picture must be a path"), ("a", 0, "side must be")])
def test_odd_arguments_are_refused(path, side, words):
    with pytest.raises(ValueError, match=words):
        read(path, side)
