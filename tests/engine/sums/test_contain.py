"""Whether sums hold a part and more: the core says what the reference says, and both say what pictures are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.engine import native_sums, possible
from bitreplay.engine.sums import Sums, add, diagonal

FEATURES = 3


def sums_of(x: np.ndarray, labels: np.ndarray, classes: int) -> Sums:
    sums = Sums.empty(FEATURES, classes)
    add(sums, x, labels)
    return sums


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_the_core_and_the_reference_agree(data):
    """A part that is there is found, in any place; one number away from it both find or refuse it."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    count, classes, largest = (data.draw(st.integers(*ends)) for ends in ((1, 12), (1, 4), (1, 127)))
    x, labels = rng.integers(-largest, largest + 1, (count, FEATURES)).astype(np.int8), rng.integers(0, classes, count)
    some = rng.integers(0, 2, count).astype(bool)
    rows = np.full(classes, -1, np.int32)
    there = rng.permutation(np.unique(labels[some]))
    rows[there] = np.arange(len(there))
    whole, part = sums_of(x, labels, classes), sums_of(x[some], rows[labels[some]], len(there))
    assert possible.contain(whole, part, rows, False) and native_sums.contain(whole, part, rows, False)
    array = getattr(part, data.draw(st.sampled_from(["counts", "class_sums", "products"])))
    if array.size:
        array.flat[rng.integers(array.size)] += data.draw(st.sampled_from([-200, -1, 1, 200]))
    part.counts = np.maximum(part.counts, 0)
    forgot = data.draw(st.booleans())
    assert native_sums.contain(whole, part, rows, forgot) == possible.contain(whole, part, rows, forgot)


@pytest.mark.parametrize("field", ["counts", "class_sums", "squares"])
def test_a_part_with_more_than_the_whole_is_refused(field):
    whole = sums_of(np.array([[1, 2, 3], [3, 2, 1]], np.int8), np.array([0, 1]), 2)
    part, rows = whole.copy(), np.arange(2, dtype=np.int32)
    assert native_sums.contain(whole, part, rows, False)
    if field == "squares":
        part.products[diagonal(FEATURES)[1]] += 1
    else:
        getattr(part, field).flat[0] += 1
    assert not native_sums.contain(whole, part, rows, False)
