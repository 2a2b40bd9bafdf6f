"""Products of each class: the core's are the reference's, and what is forgotten with them was never there."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.engine import native_sums, possible, sums
from bitreplay.engine.sums import Sums


def equal(one: Sums, other: Sums) -> bool:
    arrays = zip(one.arrays, other.arrays, strict=True)
    return one.forgot == other.forgot and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in arrays)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_the_core_and_the_reference_agree(data):
    """More than a block of 64 pictures at a time, in any order of their classes."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    count, classes, features = (data.draw(st.integers(*ends)) for ends in ((1, 150), (1, 4), (1, 9)))
    x, labels = rng.integers(-127, 128, (count, features)).astype(np.int8), rng.integers(0, classes, count)
    cut, gone = data.draw(st.integers(0, count)), int(labels[0])
    found = []
    for module in (sums, native_sums):
        one, other = (Sums.empty(features, classes, by_class=True) for _ in range(2))
        module.add(one, x, labels)
        module.add(other, x[:cut], labels[:cut])
        module.combine(one, other)
        module.combine(one, other, -1)
        module.add(one, x[:cut], labels[:cut], sign=-1)
        module.add(one, x[:cut], labels[:cut])
        found.append(one)
    assert equal(*found) and np.array_equal(found[0].arrays[3].sum(axis=0), found[0].products)
    assert possible.possible(found[0]) and native_sums.possible(found[0])
    never = Sums.empty(features, classes, by_class=True)
    sums.add(never, x[labels != gone], labels[labels != gone])
    for module, one in zip((sums, native_sums), found, strict=True):
        module.forget(one, gone)
        assert equal(one, never.without(gone)), module.__name__


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_what_is_not_possible(data):
    """One number away from what pictures leave, or moved from one class to another."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    one = Sums.empty(3, 2, by_class=True)
    sums.add(one, rng.integers(-127, 128, (6, 3)).astype(np.int8), np.arange(6) % 2)
    assert one.class_products is not None
    at, by = data.draw(st.integers(0, 5)), data.draw(st.sampled_from([-30000, -1, 1, 30000]))
    one.class_products[0, at] += by
    assert not possible.possible(one) and not native_sums.possible(one)
    one.class_products[1, at] -= by
    assert possible.possible(one) == native_sums.possible(one)
