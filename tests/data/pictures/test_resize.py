import numpy as np
import pytest

from bitreplay.data.pictures.resize import center_square, resize, taps
from tests.engine.law.oracles.pictures import resized


def oracle(image: np.ndarray, side: int) -> np.ndarray:
    return np.array(resized(image.tolist(), side), np.uint8)


@pytest.mark.parametrize("side", [1, 2, 5, 7, 8, 13])
@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (8, 8), (5, 11), (12, 3)])
def test_equals_the_definition(shape, side):
    image = np.random.default_rng(side).integers(0, 256, (*shape, 3), dtype=np.uint8)
    np.testing.assert_array_equal(resize(image, side), oracle(image, side))


def test_halving_and_doubling_as_written_out():
    image = np.random.default_rng(1).integers(0, 256, (6, 6, 3), dtype=np.uint8).astype(np.int64)
    a, b, c, d = image[0::2, 0::2], image[0::2, 1::2], image[1::2, 0::2], image[1::2, 1::2]
    np.testing.assert_array_equal(resize(image.astype(np.uint8), 3), (a + b + c + d + 2) >> 2)
    edged = np.pad(image, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = np.stack([3 * edged[1:-1] + edged[:-2], 3 * edged[1:-1] + edged[2:]], 1).reshape(12, 8, 3)
    both = np.stack([3 * rows[:, 1:-1] + rows[:, :-2], 3 * rows[:, 1:-1] + rows[:, 2:]], 2).reshape(12, 12, 3)
    np.testing.assert_array_equal(resize(image.astype(np.uint8), 12), (both + 8) >> 4)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 9), (64, 128), (64, 32), (7, 5), (5, 7), (701, 64), (64, 701)])
def test_weights_are_whole_and_sum_to_the_divisor(n, m):
    index, weights, total = taps(n, m)
    assert weights.min() >= 0 and index.min() >= 0 and index.max() < n
    np.testing.assert_array_equal(weights.sum(axis=1), np.full(m, total))


@pytest.mark.parametrize("side", [3, 4, 9, 16])
def test_a_mirrored_picture_gives_the_mirrored_answer(side):
    image = np.random.default_rng(2).integers(0, 256, (8, 7, 3), dtype=np.uint8)
    np.testing.assert_array_equal(resize(image[::-1, ::-1], side), resize(image, side)[::-1, ::-1])


@pytest.mark.parametrize("side", [4, 20])
def test_many_pictures_at_once_give_the_same_as_one_by_one(side):
    images = np.random.default_rng(3).integers(0, 256, (3, 9, 11, 3), dtype=np.uint8)
    np.testing.assert_array_equal(resize(images, side), np.stack([resize(image, side) for image in images]))


def test_the_same_size_changes_nothing():
    image = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    np.testing.assert_array_equal(resize(image, 32), image)


def test_extremes_stay():
    for value in (0, 255):
        assert np.all(resize(np.full((701, 499, 3), value, np.uint8), 64) == value)
        assert np.all(resize(np.full((31, 17, 3), value, np.uint8), 64) == value)


def test_a_half_rounds_up():
    assert resize(np.array([[[0, 1, 254]], [[1, 2, 255]]], np.uint8), 1).tolist() == [[[1, 2, 255]]]


@pytest.mark.parametrize(("shape", "first"), [((5, 5), (0, 0)), ((4, 7), (0, 1)), ((8, 3), (2, 0))])
def test_center_square(shape, first):
    rows, columns = np.indices(shape)
    cut = center_square(np.stack([rows, columns, rows], axis=2).astype(np.uint8))
    assert cut.shape[:2] == (min(shape), min(shape))
    assert tuple(cut[0, 0, :2]) == first
