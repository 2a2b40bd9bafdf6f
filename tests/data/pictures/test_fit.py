"""The core's resizing beside its reference: sizes around each other, pictures that lie anywhere in memory, no core."""

from __future__ import annotations

import numpy as np
import pytest

from bitreplay.data.pictures import fit as fit_module
from bitreplay.data.pictures.fit import fit
from bitreplay.data.pictures.resize import LARGEST_SIDE, center_square, resize

SIDES = [1, 2, 3, 7, 31, 32, 33, 64, 65, 128]


def picture(height: int, width: int) -> np.ndarray:
    image = np.random.default_rng(height * width).integers(0, 256, (height, width, 3), dtype=np.uint8)
    image[::3] = 255
    return image


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (31, 33), (32, 32), (33, 70), (64, 64), (97, 131), (225, 449)])
def test_equals_the_reference(shape, side):
    image = picture(*shape)
    assert np.array_equal(fit(image, side), resize(center_square(image), side))


def test_every_size_to_every_side_nearby():
    for size in range(1, 40):
        for side in range(1, 40):
            image = picture(size, size)
            assert np.array_equal(fit(image, side), resize(image, side)), (size, side)


def test_the_largest_picture():
    image = np.full((LARGEST_SIDE, 3, 3), 255, np.uint8)
    image[LARGEST_SIDE // 2] = 0
    assert np.array_equal(fit(image, 4), resize(center_square(image), 4))
    assert np.array_equal(fit(picture(1, 1), 500), resize(picture(1, 1), 500))
    wide = np.full((1200, LARGEST_SIDE, 3), 255, np.uint8)
    assert (fit(wide, 1000) == 255).all()


@pytest.mark.parametrize("view", [np.flipud, np.fliplr, lambda a: a[::2, ::3], lambda a: a.transpose(1, 0, 2),
                                  lambda a: a[..., ::-1], np.asfortranarray, lambda a: a[3:40, 5:60]])  # fmt: skip
def test_wherever_it_lies_in_memory(view):
    image = view(picture(70, 91))
    assert np.array_equal(fit(image, 32), resize(center_square(image), 32))


def test_without_a_core_the_reference_fits(monkeypatch):
    monkeypatch.setattr(fit_module, "available", lambda: None)
    assert np.array_equal(fit(picture(33, 70), 32), resize(center_square(picture(33, 70)), 32))
