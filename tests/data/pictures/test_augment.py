import numpy as np

from bitreplay.data.pictures.augment import crop_and_flip


def oracle(image, down, right, flip, pad, fill):
    """One image, pixel by pixel."""
    height, width, _ = image.shape
    out = np.full_like(image, fill)
    for y in range(height):
        for x in range(width):
            source_y, source_x = y + down - pad, (width - 1 - x if flip else x) + right - pad
            if 0 <= source_y < height and 0 <= source_x < width:
                out[y, x] = image[source_y, source_x]
    return out


def test_equals_the_pixel_by_pixel_definition():
    images = np.random.default_rng(0).integers(0, 256, (40, 6, 5, 3), dtype=np.uint8)
    result = crop_and_flip(images, np.random.default_rng(7), pad=2, fill=9)
    draws = np.random.default_rng(7)
    down, right, flip = draws.integers(0, 5, 40), draws.integers(0, 5, 40), draws.integers(0, 2, 40)
    for k, image in enumerate(images):
        np.testing.assert_array_equal(result[k], oracle(image, down[k], right[k], flip[k], 2, 9))


def test_every_shift_and_both_flips_occur_and_the_type_stays():
    image = np.arange(1, 17, dtype=np.uint8).reshape(1, 4, 4, 1).repeat(3, axis=3)
    result = crop_and_flip(image.repeat(4000, axis=0), np.random.default_rng(0), pad=1, fill=0)
    assert result.dtype == np.uint8 and result.shape == (4000, 4, 4, 3)
    kinds, counts = np.unique(result.reshape(4000, -1), axis=0, return_counts=True)
    assert len(kinds) == 18
    assert counts.min() > 4000 / 18 / 2


def test_the_border_is_128_unless_told():
    images = np.zeros((50, 8, 8, 3), np.uint8)
    assert set(np.unique(crop_and_flip(images, np.random.default_rng(0)))) == {0, 128}


def test_no_padding_and_no_image():
    assert crop_and_flip(np.zeros((0, 8, 8, 3), np.uint8), np.random.default_rng(0)).shape == (0, 8, 8, 3)
    images = np.random.default_rng(1).integers(0, 256, (20, 4, 4, 3), dtype=np.uint8)
    for before, after in zip(images, crop_and_flip(images, np.random.default_rng(2), pad=0), strict=True):
        assert np.array_equal(after, before) or np.array_equal(after, before[:, ::-1])
