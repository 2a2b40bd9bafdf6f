import numpy as np
import pytest

from bitreplay.data.pictures.fitting import fit_pictures
from bitreplay.data.pictures.resize import center_square, resize


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("size", [(64, 64), (48, 80), (33, 20), (5, 9), (1, 1)])
def test_many_at_once_equal_one_by_one(size):
    images = random(7, *size, 3)
    expected = np.stack([resize(center_square(image), 32) for image in images])
    assert np.array_equal(fit_pictures(images, 32), expected)
    assert np.array_equal(fit_pictures(list(images), 32), expected)
    assert np.array_equal(fit_pictures(images[0], 32), expected[:1])


def test_a_list_may_mix_sizes():
    mixed = [random(8, 8, 3), random(20, 10, 3)]
    assert np.array_equal(fit_pictures(mixed, 8)[0], mixed[0])
    assert fit_pictures(mixed, 8).shape == (2, 8, 8, 3)


def test_the_caller_s_array_is_not_shared():
    images = random(2, 8, 8, 3)
    result = fit_pictures(images, 8)
    result[...] = 0
    assert images.any() and not np.shares_memory(result, images)


def test_pictures_that_lie_strangely_in_memory_are_right():
    images = random(4, 16, 16, 3)
    assert np.array_equal(fit_pictures(images[::-1, ::-1], 8), fit_pictures(images[::-1, ::-1].copy(), 8))
    assert np.array_equal(fit_pictures(np.asfortranarray(images), 8), fit_pictures(images, 8))


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (np.zeros((2, 8, 8, 3)), "must be uint8"),
        (np.full((2, 8, 8, 3), np.nan), "must be uint8"),
        (np.zeros((2, 8, 8, 3), np.int64), "must be uint8"),
        (np.zeros((2, 8, 8, 4), np.uint8), r"\(n, height, width, 3\), got \(2, 8, 8, 4\)"),
        (np.zeros((8, 8, 4), np.uint8), r"\(n, height, width, 3\), got \(8, 8, 4\)"),
        (np.zeros((8, 8, 2), np.uint8), r"\(n, height, width, 3\)"),
        (np.zeros(8, np.uint8), r"\(n, height, width, 3\)"),
        (np.zeros((1, 2, 8, 8, 3), np.uint8), r"\(n, height, width, 3\)"),
        (np.zeros((0, 8, 8, 3), np.uint8), "no pictures"),
        (np.zeros((1, 0, 8, 3), np.uint8), "pixels high and wide"),
        (np.broadcast_to(np.uint8(0), (1, 20000, 8, 3)), "pixels high and wide"),
        ([], "no pictures"),
        ([np.zeros((8, 8, 4), np.uint8)], "Picture 0 must have the shape"),
        ([np.zeros((2, 8, 8), np.uint8)], "Picture 0 must have the shape"),
        ([np.zeros((1, 8, 8, 3), np.uint8)], "Picture 0 must have the shape"),
        ([np.zeros((8, 8, 3))], "must be uint8"),
        ([[1, 2]], "Picture 0 must be an array, a path, a Pillow image or a tensor, got list"),
        (iter([]), "no pictures"),
        ({"a": np.zeros((8, 8, 3), np.uint8)}, "got dict"),
        ("picture.png", "picture.png cannot be read as a picture"),
        (["picture.png"], "picture.png cannot be read as a picture"),
        (b"picture", "got bytes"),
        (None, "got NoneType"),
    ],
)
def test_anything_else_is_refused(images, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit_pictures(images, 8)
