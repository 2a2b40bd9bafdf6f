"""A camera's frame becomes the square that Python cuts out, also where both share one array."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from bitreplay.core.interface import br_picture
from tests.device.compiling import compiled, needs_compiler

GREY, RGB565, RGB565_LE = 1, 2, 3
pytestmark = needs_compiler


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path: Path = tmp_path_factory.mktemp("frame") / "frame.so"
    library = ctypes.CDLL(str(compiled(path, "frame.c", flags=("-shared", "-fPIC"))))
    library.br_frame_offset.restype = ctypes.c_size_t
    return library


def square_of(image: np.ndarray) -> np.ndarray:
    height, width = image.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return image[top : top + side, left : left + side]


def colours_of(words: np.ndarray) -> np.ndarray:
    """5, 6 and 5 bits, their high bits again below."""
    parts = [(words >> 11 & 31, 5), (words >> 5 & 63, 6), (words & 31, 5)]
    return np.stack([(value << (8 - bits)) | (value >> (2 * bits - 8)) for value, bits in parts], axis=-1).astype("u1")


@pytest.mark.parametrize("shape", [(120, 160), (160, 120), (1, 1), (1, 7), (96, 96), (33, 34), (240, 320)])
@pytest.mark.parametrize("kind", [GREY, RGB565, RGB565_LE])
@pytest.mark.parametrize("in_place", [False, True])
def test_a_frame_is_a_square_of_colours(frame, shape, kind, in_place):
    rng = np.random.default_rng(sum(shape))
    if kind == GREY:
        image = rng.integers(0, 256, shape, np.uint8)
        sent, expected = image.tobytes(), np.repeat(square_of(image)[..., None], 3, axis=-1)
    else:
        words = rng.integers(0, 1 << 16, shape, np.uint16)
        words.flat[0] = 0xFFFF
        sent, expected = words.astype(">u2" if kind == RGB565 else "<u2").tobytes(), square_of(colours_of(words))
    height, width = shape
    offset = frame.br_frame_offset(width, height, kind)
    room = np.zeros(max(offset + len(sent), expected.size) + 8, np.uint8)
    source = room[offset : offset + len(sent)] if in_place else np.zeros(len(sent), np.uint8)
    source[:] = np.frombuffer(sent, np.uint8)
    room[-8:] = 77
    picture = br_picture()
    frame.br_frame_square(
        source.ctypes.data_as(ctypes.c_void_p), width, height, kind, room.ctypes.data_as(ctypes.c_void_p),
        ctypes.byref(picture),
    )  # fmt: skip
    assert (picture.width, picture.height, picture.pixel_bytes) == (min(shape), min(shape), 3)
    assert np.array_equal(room[: expected.size].reshape(expected.shape), expected)
    assert (room[-8:] == 77).all()


def test_the_offset_is_the_least_one(frame):
    """QQVGA in RGB565: one array of 43 KB serves camera and learner."""
    offset = frame.br_frame_offset(160, 120, RGB565)
    ends = [3 * (y * 120 + x) + 3 - 2 * (y * 160 + 20 + x) - 2 for y in range(120) for x in range(120)]
    assert offset == max(0, *ends)
    assert offset + 2 * 160 * 120 < 3 * 120 * 120 + 100
