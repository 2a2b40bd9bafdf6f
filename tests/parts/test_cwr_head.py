"""CWR* against fractions: the merge of temporary into consolidated weights, ties and absent classes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.parts.cwr_head import CwrHead
from tests.engine.law import method

repeatable = settings(deadline=None, derandomize=True, max_examples=150)
CLASSES, COLUMNS = 4, 3
LARGEST = 2**31 - 1
weight = st.one_of(st.integers(-LARGEST, LARGEST), st.integers(-9, 9), st.sampled_from((-LARGEST, LARGEST)))
matrix = st.lists(st.lists(weight, min_size=COLUMNS, max_size=COLUMNS), min_size=CLASSES, max_size=CLASSES)
counts = st.lists(st.one_of(st.just(0), st.integers(0, 5000)), min_size=CLASSES, max_size=CLASSES)


def head_of(cw, past) -> CwrHead:
    head = CwrHead(len(cw), len(cw[0]) - 1)
    head.consolidated_weights[...], head.past[...] = cw, past
    return head


def merged(cw, tw, past, present) -> tuple[list, list]:
    head = head_of(cw, past)
    head.consolidate(np.array(tw, np.int32), np.array(present, np.int64))
    return head.consolidated_weights.tolist(), head.past.tolist()


@repeatable
@given(matrix, matrix, counts, counts.filter(any))
def test_consolidation_is_the_formula_rounded_once(cw, tw, past, present):
    assert merged(cw, tw, past, present) == method.consolidate(cw, tw, past, present)


@repeatable
@given(matrix, matrix, counts, counts.filter(any))
def test_absent_classes_are_untouched(cw, tw, past, present):
    after, seen = merged(cw, tw, past, present)
    for c in range(CLASSES):
        if present[c] == 0:
            assert after[c] == cw[c] and seen[c] == past[c]


@repeatable
@given(matrix, matrix, counts, counts.filter(any), st.permutations(range(COLUMNS)))
def test_the_bias_is_one_more_weight(cw, tw, past, present, order):
    """Exchanging the bias with any weight before or after the merge is the same."""
    moved = [[[row[k] for k in order] for row in rows] for rows in (cw, tw)]
    after, _ = merged(cw, tw, past, present)
    assert merged(moved[0], moved[1], past, present)[0] == [[row[k] for k in order] for row in after]


def test_a_first_experience_keeps_the_weights_less_their_mean():
    """Mean of 10, 4, -6, 0 is 2; the third class is absent, so its 99 do not count."""
    after, past = merged(np.zeros((3, 2)), [[10, 4], [-6, 0], [99, 99]], [0, 0, 0], [5, 5, 0])
    assert after == [[8, 2], [-8, -2], [0, 0]] and past == [5, 5, 0]


def test_as_many_before_as_now_is_the_mean_of_old_and_new():
    """tw - m = 3, -3; (100 + 3) / 2 = 51.5 and (-51 - 3) / 2 = -27: a tie goes away from zero."""
    after, past = merged([[100, -51]], [[10, 4]], [9], [9])
    assert after == [[52, -27]] and past == [18]


def test_four_times_as_many_before_weigh_twice():
    """r = 2: (300 * 2 + 30) / 3."""
    assert merged([[300, -300]], [[30, -30]], [36], [9])[0] == [[210, -210]]


@pytest.mark.parametrize(("past", "now"), [(2, 1), (1, 3), (10**6, 1), (1, 10**6), (3, 7), (0, 5)])
def test_the_root_is_rounded_down_to_16_bits(past, now):
    """Seen through the formula: with tw = m, cw becomes cw r / (r + 1)."""
    root = method.root(past, now)
    assert root**2 <= Fraction(past, now) < (root + Fraction(1, 2**16)) ** 2
    found = merged([[2**30, 2**30]], [[5, 5]], [past], [now])[0][0][0]
    assert abs(found - 2**30 * root / (root + 1)) <= Fraction(1, 2)


def test_the_largest_counts_of_the_law_do_not_wrap():
    """past / now just below 2^26: r below 2^13 with 16 bits behind the point, products below 2^61."""
    cw, tw, past, now = [[LARGEST, -LARGEST]], [[-LARGEST, LARGEST]], [2**26 - 1], [1]
    assert merged(cw, tw, past, now) == method.consolidate(cw, tw, past, now)


def test_an_experience_begins_with_the_consolidated_weights_of_its_classes():
    head = head_of([[1, 2], [3, 4], [5, 6]], [1, 1, 0])
    start = head.begin_experience(np.array([7, 0, 2]))
    assert start.tolist() == [[1, 2], [0, 0], [5, 6]] and start.dtype == np.int32
    start[...] = 99
    assert head.consolidated_weights.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert head.seen.tolist() == [1, 1, 0]


@repeatable
@given(matrix, matrix, counts, counts.filter(any))
def test_it_shares_no_memory_with_the_caller(cw, tw, past, present):
    head, weights, n_features = head_of(cw, past), np.array(tw, np.int32), np.array(present, np.int64)
    begun = head.begin_experience(n_features)
    head.consolidate(weights, n_features)
    expected = head.consolidated_weights.copy(), head.past.copy()
    restored = CwrHead(CLASSES, COLUMNS - 1)
    given = head.state_dict()
    restored.load_state_dict(given)
    restored.count(n_features)
    restored.load_state_dict(given)
    for array in (begun, weights, n_features, head.seen):
        array[...] = 77
    for found in (head, restored):
        assert np.array_equal(found.consolidated_weights, expected[0]) and np.array_equal(found.past, expected[1])


@repeatable
@given(matrix, counts, st.integers(CLASSES, 3 * CLASSES), st.integers(0, CLASSES - 1))
def test_room_for_more_classes_changes_none_and_a_forgotten_one_is_as_if_never_seen(cw, past, room, gone):
    head = head_of(cw, past)
    head.resize(room)
    assert head.consolidated_weights[:CLASSES].tolist() == cw and not head.consolidated_weights[CLASSES:].any()
    assert head.past.tolist() == past + [0] * (room - CLASSES) and len(head.seen) == room
    head.forget(gone)
    assert not head.consolidated_weights[gone].any() and head.seen[gone] == 0
    head.resize(CLASSES)
    kept = [c for c in range(CLASSES) if c != gone]
    assert [head.consolidated_weights[c].tolist() for c in kept] == [cw[c] for c in kept]


@pytest.mark.parametrize(
    ("weights", "present", "sentence"),
    [
        (np.zeros((3, 3), np.int32), [1, 0, 0, 0], "Weights must be int32"),
        (np.zeros((4, 3)), [1, 0, 0, 0], "Weights must be int32"),
        (np.zeros((4, 3), np.int32), [1, 0], "a count for each of 4 classes"),
        (np.zeros((4, 3), np.int32), [1.0, np.nan, 0, 0], "a count for each of 4 classes"),
        (np.zeros((4, 3), np.int32), [-1, 2, 0, 0], "a count for each of 4 classes"),
        (np.zeros((4, 3), np.int32), [0, 0, 0, 0], "at least one sample of one class"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(weights, present, sentence):
    head = head_of([[1, 2, 3]] * 4, [5, 0, 1, 0])
    with pytest.raises(ValueError, match=sentence):
        head.consolidate(weights, np.array(present))
    assert head.consolidated_weights.tolist() == [[1, 2, 3]] * 4 and head.past.tolist() == [5, 0, 1, 0]
