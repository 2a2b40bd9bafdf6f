"""What replay does around its tail: the core's integers are the reference's, which the law's oracle holds (law/)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.engine import method, native_method
from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from tests.engine.law import method as oracle

SEEDS, COUNTS = st.integers(0, 2**64 - 1), st.integers(0, 40)


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.integers(0, 2**16), st.integers(0, 2**33), COUNTS, COUNTS, COUNTS)
def test_slots(seed, c, seen, held, room, offered):
    held = min(held, room)
    expected = method.slots(seed, c, seen, held, room, offered)
    assert np.array_equal(native_method.slots(seed, c, seen, held, room, offered), expected)
    assert (expected < room).all() and (expected[: room - held] == np.arange(held, min(room, held + offered))).all()


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.integers(0, 2**62), st.integers(1, 60) | st.integers(2**31 - 60, 2**31 - 1), COUNTS)
def test_draws(seed, draw, stored, count):
    expected = method.drawn(seed, draw, stored, count)
    assert np.array_equal(native_method.drawn(seed, draw, stored, count), expected)
    assert (expected >= 0).all() and (expected < stored).all()
    assert count > stored or len(set(expected.tolist())) == count


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.integers(0, 2**31), st.integers(0, 2**20), COUNTS)
def test_the_order_of_an_epoch(seed, experience, epoch, samples):
    expected = method.epoch_order(seed, experience, epoch, samples)
    assert np.array_equal(native_method.epoch_order(seed, experience, epoch, samples), expected)
    assert sorted(expected.tolist()) == list(range(samples))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 2**31), *[st.integers(1, 2**20) | st.integers(1, 50)] * 4)
def test_epochs_and_replayed_samples(samples, size, epochs, min_steps, replayed):
    found = native_method.epochs(samples, size, epochs, min_steps)
    steps = ceil(Fraction(samples, size))
    assert found == method.epochs(samples, size, epochs, min_steps)
    assert found == epochs or (found > epochs and (found - 1) * steps < min_steps <= found * steps)
    assert found * steps >= min_steps
    fresh = min(samples, size)
    joined = native_method.replayed(fresh, size, replayed)
    assert joined == method.replayed(fresh, size, replayed) == ceil(Fraction(replayed * fresh, size))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_consolidation(data):
    """Of the formula in exact fractions, on any weights, ties and extremes among them."""
    classes, columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    weights = st.integers(-(2**31) + 1, 2**31 - 1) | st.integers(-3, 3)
    cw, tw = (data.draw(st.lists(st.lists(weights, min_size=columns, max_size=columns), min_size=classes,
                                 max_size=classes)) for _ in range(2))  # fmt: skip
    past = data.draw(st.lists(st.integers(0, 1000), min_size=classes, max_size=classes))
    present = data.draw(st.lists(st.integers(0, 50), min_size=classes, max_size=classes).filter(any))
    expected = oracle.consolidate(cw, tw, past, present)
    for module in (method, native_method):
        merged, seen = np.array(cw, np.int32), np.array(past, np.int64)
        module.consolidate(merged, np.array(tw, np.int32), seen, np.array(present, np.int64))
        assert (merged.tolist(), seen.tolist()) == tuple(expected), module.__name__


@settings(max_examples=150, deadline=None)
@given(st.fractions(Fraction(1, 2**200), 2**20), st.sampled_from(range(3)), st.integers(1, 2**40), st.data())
def test_rates(base, kind, steps, data):
    """Of fractions that are too long for the core, too."""
    done = data.draw(st.integers(0, steps - 1))
    assert native_method.rate(base, kind, done, steps) == Multiplier.of(method.rate(base, kind, done, steps))
