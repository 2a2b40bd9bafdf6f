"""Large photographs: the scale at which they are decoded, and what that costs beside Pillow's own draft and resize."""

import io
import time
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from bitreplay.data.folder import load
from bitreplay.data.pictures import fitting
from bitreplay.data.pictures.picture import decode, read, refuse
from bitreplay.data.pictures.resize import center_square, resize
from tests.data.pictures.peak import peaks_above_base
from tests.data.pictures.photographs import photograph

SIDE = 64


def drafted(content: bytes, scale: int) -> np.ndarray:
    with Image.open(io.BytesIO(content)) as image:
        image.draft(None, (image.width // scale, image.height // scale))
        return np.asarray(image.convert("RGB"))


@pytest.mark.parametrize(
    ("width", "height", "side", "scale"),
    [
        (2048, 2048, 32, 1),  # four million pixels are not large
        (2049, 2048, 32, 8),
        (4000, 3000, 32, 8),
        (3000, 4000, 256, 8),
        (4000, 3000, 375, 8),
        (4000, 3000, 376, 4),
        (4000, 3000, 751, 2),
        (4000, 3000, 1501, 1),
        (16000, 300, 32, 1),  # the shorter side counts
        (8000, 600, 32, 2),
        (5000, 1024, 32, 4),
        (4500, 1023, 32, 2),
    ],
)
def test_the_scale_of_a_large_jpeg(width, height, side, scale):
    stream = io.BytesIO()
    Image.new("L", (width, height)).save(stream, "JPEG", quality=10)
    result = decode(stream.getvalue(), "a", side)
    assert result.shape == (-(-height // scale), -(-width // scale), 3)


def test_a_large_jpeg_has_the_pixels_of_that_scale_and_a_smaller_one_all_of_its_own():
    large, small = photograph(2500, 1700), photograph(2100, 1900)
    np.testing.assert_array_equal(decode(large, "a"), drafted(large, 4))
    np.testing.assert_array_equal(decode(small, "a"), drafted(small, 1))
    upright = photograph(2500, 1700, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0")
    np.testing.assert_array_equal(decode(upright, "a"), np.rot90(drafted(large, 4), -1))


def test_at_an_eighth_it_is_the_same_picture():
    """Up to half a pixel of the small one aside: that far its middle may lie from the middle of all pixels."""
    content = photograph(2600, 2500, grain=400)
    few = resize(center_square(decode(content, "a")), SIDE).astype(int)
    apart = np.abs(few - resize(center_square(drafted(content, 1)), SIDE))
    assert 0 < apart.max() <= 8 and apart.mean() < 1.5


def test_folder_command_line_and_reader_see_the_same_picture(tmp_path):
    (tmp_path / "a.jpg").write_bytes(photograph(2500, 2100))
    by_hand = fitting.fit_pictures(read(tmp_path / "a.jpg"), SIDE)
    np.testing.assert_array_equal(load([tmp_path / "a.jpg"], SIDE, refuse)[1], by_hand)
    from bitreplay.cli.reading import read_pictures

    ((_, result),) = read_pictures([tmp_path / "a.jpg"], SIDE, refuse)
    np.testing.assert_array_equal(result, by_hand)


def cost(work: Callable[[], object]) -> float:
    """CPU seconds, the best of five."""
    result = []
    for _ in range(5):
        start = time.process_time()
        work()
        result.append(time.process_time() - start)
    return min(result)


def test_a_wide_picture_costs_no_more_than_a_square_one():
    """Before the middle was copied once, it cost 12 to 34 times as much."""
    pixels = np.zeros((1800, 2400, 3), np.uint8)
    square = np.zeros((1800, 1800, 3), np.uint8)
    wide = cost(lambda: fitting.fit_pictures(pixels, 32))
    assert wide < 4 * cost(lambda: fitting.fit_pictures(square, 32))


def pillow(content: bytes, side: int) -> np.ndarray:
    with Image.open(io.BytesIO(content)) as image:
        image.draft("RGB", (side, side))
        return np.asarray(image.resize((side, side)))


@pytest.mark.parametrize("side", [32, 224])
def test_a_photograph_of_12_megapixels_costs_what_pillow_asks_for_it(side):
    """Measured 0.99 to 1.02 times; benchmarks/photographs.py has rows."""
    content = photograph(4000, 3000)
    ours = cost(lambda: fitting.fit_pictures(decode(content, "a", side), side))
    assert ours < 1.5 * cost(lambda: pillow(content, side))


READING = """
from bitreplay.data.pictures import fitting
from bitreplay.data.pictures.picture import read
def work(path, count):
    for _ in range(count):
        fitting.fit_pictures(read(path, 224), 224)
"""


def test_photographs_of_12_megapixels_take_little_memory(tmp_path):
    (tmp_path / "large.jpg").write_bytes(photograph(4000, 3000))
    (tmp_path / "small.jpg").write_bytes(photograph(64, 64))
    _, result = peaks_above_base(READING, [(tmp_path / "small.jpg", 1), (tmp_path / "large.jpg", 12)])
    assert result < 60 << 20
