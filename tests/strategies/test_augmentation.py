import numpy as np
import pytest

from bitreplay.strategies.augmentation import OUTSIDE, augmented, shift_and_flip

IMAGES = np.random.default_rng(0).integers(0, 256, (500, 16, 16, 3), dtype=np.uint8)


def test_the_same_step_gives_the_same_views():
    assert np.array_equal(augmented(IMAGES, 1, 5), augmented(IMAGES, 1, 5))
    assert not np.array_equal(augmented(IMAGES, 1, 5), augmented(IMAGES, 1, 6))
    assert not np.array_equal(augmented(IMAGES, 1, 5), augmented(IMAGES, 2, 5))


def test_every_view_is_a_window_of_the_padded_picture_and_all_are_about_as_frequent():
    views = augmented(IMAGES, 3, 7)
    found = np.zeros((5, 5, 2), int)
    for image, view in zip(IMAGES, views, strict=True):
        padded = np.pad(image, ((2, 2), (2, 2), (0, 0)), constant_values=128)
        places = [
            (down, right, flip)
            for down in range(5)
            for right in range(5)
            for flip in range(2)
            if np.array_equal(padded[down : down + 16, right : right + 16][:, :: 1 - 2 * flip], view)
        ]
        assert len(places) == 1
        found[places[0]] += 1
    assert found.min() >= 1 and abs(int(found[..., 0].sum()) - 250) < 50
    assert all(abs(int(part.sum()) - 100) < 40 for part in found)


def by_pixels(image: np.ndarray, down: int, right: int, flip: int, pad: int) -> np.ndarray:
    height, width, _ = image.shape
    out = np.full_like(image, OUTSIDE)
    for y in range(height):
        for x in range(width):
            source_y, source_x = y + down - pad, (width - 1 - x if flip else x) + right - pad
            if 0 <= source_y < height and 0 <= source_x < width:
                out[y, x] = image[source_y, source_x]
    return out


@pytest.mark.parametrize("pad", [0, 2])
def test_a_view_equals_the_pixel_by_pixel_definition(pad):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (40, 6, 5, 3), dtype=np.uint8)
    down, right = rng.integers(0, 2 * pad + 1, (2, 40, 1))
    flip = rng.integers(0, 2, (40, 1))
    views = shift_and_flip(images, down, right, flip, pad)
    places = np.hstack([down, right, flip]).tolist()
    for image, view, (y, x, mirrored) in zip(images, views, places, strict=True):
        np.testing.assert_array_equal(view, by_pixels(image, y, x, mirrored, pad))


def test_no_image():
    assert augmented(IMAGES[:0], 1, 5).shape == (0, 16, 16, 3)
