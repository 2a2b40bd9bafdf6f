import numpy as np

from bitreplay.strategies.augmentation import augmented

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
