"""The discriminant in one call into the core, and forgetting a class there: equal to the reference on every path."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bitreplay.engine import native, native_sums
from bitreplay.engine import sums as reference
from bitreplay.engine.answers import ReferenceDiscriminant
from bitreplay.engine.native_discriminant import NativeDiscriminant, discriminant_of
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.sums import Sums
from tests.engine.sums.test_ood import learned

CASES = [(1, [1], 1), (2, [3], 2), (9, [5, 4], 3), (40, [17], 2), (70, [31, 2], 5), (150, [33, 31], 20)]
CONSTANTS = [
    EXACT,
    Shrinkage(4, Fraction(1), 4),
    Shrinkage(8, Fraction(64), 1),
    Shrinkage(1, Fraction(1, 64), 8),
    Shrinkage(3, Fraction(5, 7), 2),
]
SHARES = [Fraction(0), Fraction(1, 10**9), Fraction(1, 20), Fraction(1, 2), Fraction(1)]


@pytest.fixture(params=native.built_isas())
def path(request) -> Iterator[str]:
    if request.param not in native.available_isas():
        pytest.skip(f"This CPU lacks the instruction set {request.param}: the discriminant was not tested on it.")
    before = native.isa()
    native.set_isa(request.param)
    yield request.param
    native.set_isa(before)


@pytest.mark.parametrize("shrinkage", CONSTANTS)
@pytest.mark.parametrize(("pictures", "parts", "classes"), CASES)
def test_answers_are_those_of_the_reference(path, record_property, pictures, parts, classes, shrinkage):
    record_property("path", path)
    sums, others = learned(pictures, parts, classes, seed=pictures)
    ends = np.full_like(others[:1], 127), np.full_like(others[:1], -127)
    same_answers(sums, parts, np.concatenate([others, *ends]), shrinkage)


@pytest.mark.parametrize("shrinkage", CONSTANTS)
@pytest.mark.parametrize("factor", [1, 8192, 2**27 - 1])
def test_the_extremes_are_those_of_the_reference(shrinkage, factor):
    """All features +-127, up to almost 2^31 times; a class of one picture among them, and one without any."""
    rng = np.random.default_rng(factor)
    x, labels = rng.choice([-127, 127], (16, 9)).astype(np.int8), np.arange(16) % 3
    sums = Sums.empty(9, 5)
    reference.add(sums, x, labels)
    many = sums.extent * factor
    stored = reference.width(many + 1)
    sums = Sums(sums.counts * factor, sums.class_sums.astype(stored) * factor, sums.products.astype(stored) * factor)
    reference.add(sums, x[:1], np.array([4]))
    same_answers(sums, [9], np.concatenate([x, rng.integers(-127, 128, (20, 9)).astype(np.int8)]), shrinkage)


def test_a_class_without_pictures_is_never_answered():
    sums, others = learned(30, [8], 3, seed=4)
    wider = sums.placed(np.array([0, 2, 4]), 6)
    same_answers(wider, [8], others)
    rule = discriminant_of(wider, [8])
    assert set(rule.labels(others).tolist()) <= {0, 2, 4} and not rule.probabilities(others)[:, [1, 3, 5]].any()


def test_many_pictures_have_wide_sums():
    sums, others = learned(40, [9], 3, seed=5)
    for _ in range(13):
        native_sums.combine(sums, sums.copy())
    assert sums.products.dtype == np.int64
    same_answers(sums, [9], others)


def same_answers(sums: Sums, parts: list[int], x: np.ndarray, shrinkage: Shrinkage = EXACT) -> None:
    right, found = ReferenceDiscriminant(sums, parts, shrinkage), discriminant_of(sums, parts, shrinkage)
    assert isinstance(found, NativeDiscriminant)
    for name in ("weights", "biases", "exponent", "pictures", "dropped_features"):
        assert np.array_equal(getattr(right.solution, name), getattr(found.solution, name)), name
    assert found.labels(x[:1]).tolist() == right.labels(x[:1]).tolist()
    assert np.array_equal(found.probabilities(x), right.probabilities(x))
    assert found.temperature == right.temperature
    for share in SHARES:
        assert np.array_equal(found.labels(x, share), right.labels(x, share)), share
    assert found.labels(x[:0]).shape == (0,) and found.probabilities(x[:0]).shape == (0, sums.classes)


def test_threads_share_it():
    sums, others = learned(150, [33, 31], 20, seed=1)
    right = ReferenceDiscriminant(sums, [33, 31])
    expected = right.probabilities(others), right.labels(others, Fraction(1, 10))
    found = discriminant_of(sums, [33, 31])
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(found.probabilities, others) for _ in range(20)]
        labels = [pool.submit(found.labels, others, Fraction(1, 10)) for _ in range(20)]
    assert all(np.array_equal(one.result(), expected[0]) for one in asked)
    assert all(np.array_equal(one.result(), expected[1]) for one in labels)


def test_other_features_and_no_pictures_are_refused():
    sums, others = learned(9, [5], 3, seed=1)
    rule = discriminant_of(sums, [5])
    wrongs: list[Any] = [others[:, :4], others[0], others.astype(np.int16)]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="int8 of shape"):
            rule.labels(wrong)
    with pytest.raises(ValueError, match="argument"):
        discriminant_of(Sums.empty(5, 3), [5])
    with pytest.raises(ValueError, match="argument"):
        discriminant_of(sums, [4])
    wrong_constants = Shrinkage()
    object.__setattr__(wrong_constants, "pictures", 9)
    with pytest.raises(ValueError, match="argument"):
        discriminant_of(sums, [5], wrong_constants)


@pytest.mark.parametrize("terms", [(0, Fraction(1), 4), (9, Fraction(1), 4), (1, Fraction(0), 4), (1, Fraction(65), 4),
                                   (1, Fraction(1, 65), 4), (1, Fraction(1), 0), (1, Fraction(1), 9)])  # fmt: skip
def test_other_constants_are_refused(terms):
    with pytest.raises(ValueError, match="a shrinkage has a cap and pictures of 1 to 8"):
        Shrinkage(*terms)


@pytest.mark.parametrize(("pictures", "parts", "classes"), CASES[1:])
def test_forgetting_is_that_of_the_reference(pictures, parts, classes):
    sums, _ = learned(pictures, parts, classes, seed=pictures)
    for row in range(classes):
        same_rest(sums, row)


def test_what_was_cut_off_before_is_cut_off_again_and_widens():
    """Products as version 0.2.0 left them: far beyond what the pictures that stay can make of them."""
    sums, _ = learned(12, [4], 3, seed=2)
    for value in (1 << 29, (1 << 31) - 1, -(1 << 31)):
        odd = sums.copy()
        odd.forgot, odd.products[1] = True, value
        same_rest(odd, 1)
        odd.products[reference.diagonal(4)] = (1 << 31) - 1
        same_rest(odd, 2)


def same_rest(sums: Sums, row: int) -> None:
    found = []
    for forget in (reference.forget, native_sums.forget):
        rest = sums.copy()
        forget(rest, row)
        assert rest.forgot and rest.classes == sums.classes - 1
        found.append(rest)
    for name in ("counts", "class_sums", "products"):
        one, other = (getattr(rest, name) for rest in found)
        assert one.dtype == other.dtype and np.array_equal(one, other), name
