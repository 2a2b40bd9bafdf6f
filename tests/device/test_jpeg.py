"""A camera's JPEG becomes the square of its blocks' means, as libjpeg makes them; what is damaged is refused.

python -m tests.device.test_jpeg FOLDER         writes files to begin a fuzzer with
"""

from __future__ import annotations

import ctypes
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFile

from bitreplay.core.interface import br_picture
from tests.device.compiling import compiled, needs_compiler
from tests.device.test_frame import square_of

OK, MALFORMED, NO_MEMORY = 0, 1, 2
SHAPES = [(64, 64), (240, 320), (120, 160), (1, 1), (8, 9), (17, 100), (100, 17), (480, 640)]
FULL, WIDE, QUARTER = 0, 1, 2  # Pillow's numbers of 4:4:4, 4:2:2, 4:2:0
pytestmark = needs_compiler


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path: Path = tmp_path_factory.mktemp("jpeg") / "jpeg.so"
    return ctypes.CDLL(str(compiled(path, "jpeg.c", flags=("-shared", "-fPIC"))))


@pytest.fixture(autouse=True)
def room_to_optimize(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow's buffer for files with tables of their own."""
    monkeypatch.setattr(ImageFile, "MAXBLOCK", 1 << 22)


def decoded(library: ctypes.CDLL, jpeg: bytes, room: int = 3 * 80 * 80) -> tuple[int, np.ndarray]:
    square, picture = np.full(room + 8, 77, np.uint8), br_picture()
    failed = library.br_frame_jpeg(
        jpeg, ctypes.c_size_t(len(jpeg)), square.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(room),
        ctypes.byref(picture),
    )  # fmt: skip
    assert (square[-8:] == 77).all()
    if failed:
        return failed, square[:0]
    assert picture.width == picture.height and picture.pixel_bytes == 3
    return OK, square[: 3 * picture.width**2].reshape(picture.width, picture.width, 3)


def jpeg_of(image: Image.Image, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, "jpeg", **options)
    return file.getvalue()


def by_libjpeg(jpeg: bytes) -> np.ndarray:
    """At an eighth of its size, by libjpeg's own scaling."""
    image = Image.open(io.BytesIO(jpeg))
    size = tuple(-(-extent // 8) for extent in image.size)
    image.draft(image.mode, (1, 1))
    assert image.size == size
    return square_of(np.asarray(image.convert("RGB")))


def noise(shape: tuple[int, int], subsampling: int) -> Image.Image:
    """Y differs from pixel to pixel, Cb and Cr from one 16x16 tile to the next: libjpeg scales all three alike then."""
    rng = np.random.default_rng(sum(shape))
    planes = [rng.integers(0, 256, shape, np.uint8)]
    tile = 1 if subsampling == FULL else 16
    for _ in range(2):
        tiles = rng.integers(0, 256, [-(-extent // tile) for extent in shape], np.uint8)
        planes.append(np.repeat(np.repeat(tiles, tile, 0), tile, 1)[: shape[0], : shape[1]])
    return Image.merge("YCbCr", [Image.fromarray(plane) for plane in planes])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("subsampling", [FULL, WIDE, QUARTER])
@pytest.mark.parametrize("options", [{"quality": 30}, {"quality": 95}, {"quality": 80, "optimize": True},
                                     {"quality": 80, "restart_marker_blocks": 3}])  # fmt: skip
def test_colours_are_those_of_libjpeg(library, shape, subsampling, options):
    jpeg = jpeg_of(noise(shape, subsampling), subsampling=subsampling, **options)
    assert (b"\xff\xd0" in jpeg) >= ("restart_marker_blocks" in options and min(shape) > 64)
    failed, square = decoded(library, jpeg)
    assert failed == OK and np.array_equal(square, by_libjpeg(jpeg))


@pytest.mark.parametrize("shape", SHAPES)
def test_grey_is_that_of_libjpeg(library, shape):
    image = np.random.default_rng(5).integers(0, 256, shape, np.uint8)
    jpeg = jpeg_of(Image.fromarray(image), quality=75, comment=b"a comment", exif=b"Exif\0\0" + bytes(40))
    failed, square = decoded(library, jpeg)
    assert failed == OK and np.array_equal(square, by_libjpeg(jpeg))


def photograph() -> Image.Image:
    """640x480: shades and edges, as a camera would see them."""
    y, x = np.mgrid[0:480, 0:640]
    planes = [
        128 + 100 * np.sin(x / 90),
        128 + 90 * np.cos(y / 70),
        np.where((x - 320) ** 2 + (y - 240) ** 2 < 9e3, 220, 60),
    ]
    return Image.fromarray(np.stack(planes, axis=-1).astype(np.uint8))


@pytest.mark.parametrize("subsampling", [FULL, WIDE, QUARTER])
def test_a_photograph_keeps_the_means_of_its_blocks(library, subsampling):
    jpeg = jpeg_of(photograph(), quality=90, subsampling=subsampling)
    failed, square = decoded(library, jpeg)
    blocks = np.asarray(photograph(), np.float64).reshape(60, 8, 80, 8, 3).mean(axis=(1, 3))
    wrong = np.abs(square - square_of(blocks))
    assert failed == OK and square.shape == (60, 60, 3)
    assert np.median(wrong) <= 2 and (subsampling != FULL or wrong.max() < 4)


def test_what_is_cut_off_or_of_another_kind_is_refused(library):
    image = noise((48, 64), QUARTER)
    whole = jpeg_of(image, quality=60, subsampling=QUARTER, restart_marker_blocks=2)
    assert decoded(library, whole)[0] == OK
    end = whole.rindex(b"\xff\xd9")
    for size in range(end - 1):  # the last byte may have nothing but bits that fill it up
        assert decoded(library, whole[:size])[0] == MALFORMED, size
    assert decoded(library, whole, room=3 * 6 * 6 - 1)[0] == NO_MEMORY
    assert decoded(library, whole, room=3 * 6 * 6)[0] == OK
    others = {
        "progressive": jpeg_of(image, progressive=True),
        "four components": jpeg_of(image.convert("RGB").convert("CMYK")),
        "no JPEG": b"P6 8 8 255\n" + bytes(192),
        "no table": whole.replace(b"\xff\xc4", b"\xff\xfe"),
        "no quantizer": whole.replace(b"\xff\xdb", b"\xff\xfe"),
        "another restart": whole.replace(b"\xff\xd1", b"\xff\xd2", 1),
        "no frame": whole.replace(b"\xff\xc0", b"\xff\xe5"),
        "12 bits": whole.replace(b"\xff\xc0\x00\x11\x08", b"\xff\xc0\x00\x11\x0c"),
        "no height": whole.replace(b"\xff\xc0\x00\x11\x08\x00\x30", b"\xff\xc0\x00\x11\x08\x00\x00"),
    }
    for what, jpeg in others.items():
        assert jpeg != whole and decoded(library, jpeg)[0] == MALFORMED, what


def seeds() -> dict[str, bytes]:
    small = noise((24, 40), QUARTER)
    files = {f"{kind}": jpeg_of(small, quality=50, subsampling=kind) for kind in (FULL, WIDE, QUARTER)}
    files["restart"] = jpeg_of(small, quality=50, restart_marker_blocks=1)
    files["grey"] = jpeg_of(small.convert("L"), quality=50, optimize=True)
    return files


if __name__ == "__main__":
    for name, content in seeds().items():
        Path(sys.argv[1], name).write_bytes(content)
