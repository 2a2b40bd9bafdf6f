from fractions import Fraction

import numpy as np
import pytest

from bitreplay.data.resize import center_square, resize


def oracle(image: np.ndarray, side: int) -> np.ndarray:
    """The definition in rational numbers: mean over the covered rectangle, halves up."""

    def overlaps(length):
        for i in range(side):
            low, high = Fraction(i * length, side), Fraction((i + 1) * length, side)
            yield [(j, max(Fraction(0), min(high, Fraction(j + 1)) - max(low, Fraction(j)))) for j in range(length)]

    out = np.zeros((side, side, image.shape[2]), np.uint8)
    for y, rows in enumerate(overlaps(image.shape[0])):
        for x, columns in enumerate(overlaps(image.shape[1])):
            for c in range(image.shape[2]):
                total = sum((a * b * int(image[i, j, c]) for i, a in rows if a for j, b in columns if b), Fraction(0))
                mean = total * side * side / (image.shape[0] * image.shape[1])
                out[y, x, c] = (2 * mean + 1) // 2
    return out


@pytest.mark.parametrize("side", [1, 2, 5, 7, 8, 13])
@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (8, 8), (5, 11), (12, 3)])
def test_equals_the_definition(shape, side):
    image = np.random.default_rng(side).integers(0, 256, (*shape, 3), dtype=np.uint8)
    np.testing.assert_array_equal(resize(image, side), oracle(image, side))


def test_the_same_size_changes_nothing():
    image = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    np.testing.assert_array_equal(resize(image, 32), image)


def test_extremes_stay():
    for value in (0, 255):
        assert np.all(resize(np.full((701, 499, 3), value, np.uint8), 64) == value)


def test_a_half_rounds_up():
    assert resize(np.array([[[0, 1, 254]], [[1, 2, 255]]], np.uint8), 1).tolist() == [[[1, 2, 255]]]


@pytest.mark.parametrize(("shape", "first"), [((5, 5), (0, 0)), ((4, 7), (0, 1)), ((8, 3), (2, 0))])
def test_center_square(shape, first):
    rows, columns = np.indices(shape)
    cut = center_square(np.stack([rows, columns, rows], axis=2).astype(np.uint8))
    assert cut.shape[:2] == (min(shape), min(shape))
    assert tuple(cut[0, 0, :2]) == first
