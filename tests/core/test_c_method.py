"""Reservoir, draws, minibatches, CWR* and rates in C: the law's vectors, and whatever is drawn, as in Python."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core import c_method
from tests.core.c_learner import Failed
from tests.engine.law import make_vectors, method_functions

VECTORS = json.loads((make_vectors.FOLDER / "method.json").read_text())
COUNTS = st.integers(0, 1 << 30) | st.integers(0, (1 << 61) - 1) | st.integers(0, 40)
WEIGHTS = st.integers(1 - 2**31, 2**31 - 1) | st.sampled_from([1 - 2**31, -1, 0, 1, 2**31 - 1])
NUMBERS = st.integers(1, 1 << 190) | st.integers(1, 1000)


@pytest.mark.parametrize("case", VECTORS, ids=[case["name"] for case in VECTORS])
def test_a_vector_of_the_law_holds_in_c(case):
    assert c_method.FUNCTIONS[case["function"]](**case["inputs"]) == case["expected"]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_heads_are_consolidated_alike(data):
    classes, columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    rows = st.lists(st.lists(WEIGHTS, min_size=columns, max_size=columns), min_size=classes, max_size=classes)
    counts = st.lists(COUNTS, min_size=classes, max_size=classes)
    given_ = {"cw": data.draw(rows), "tw": data.draw(rows), "past": data.draw(counts), "present": data.draw(counts)}
    if not any(given_["present"]):
        with pytest.raises(Failed, match="out of range"):
            c_method.consolidate(**given_)
        return
    with np.errstate(over="ignore"):  # beyond past / now < 2^26 both wrap
        assert c_method.consolidate(**given_) == method_functions.consolidate(**given_)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 5),
    st.integers(0, 2**64 - 1),
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=1, max_size=4),
    st.lists(st.integers(0, 40), max_size=3),
)
def test_reservoirs_and_draws_are_alike(per_class, seed, experiences, draws):
    words = (per_class, seed, experiences, draws)
    assert c_method.reservoir(*words) == method_functions.reservoir(*words)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 300), st.integers(1, 40), st.integers(0, 2**64 - 1), st.integers(0, 2**31 - 1), st.integers(0, 99)
)
def test_the_order_of_an_epoch_is_alike(samples, size, seed, experience, epoch):
    words = (samples, size, seed, experience, epoch)
    assert c_method.minibatches(*words) == method_functions.minibatches(*words)


@settings(max_examples=150, deadline=None)
@given(NUMBERS, NUMBERS, st.sampled_from(c_method.KINDS), st.integers(1, 1 << 40) | st.integers(1, 300), st.data())
def test_rates_are_alike(top, bottom, kind, steps, data):
    words = ([top, bottom], kind, data.draw(st.integers(0, steps - 1)), steps)
    assert c_method.rate(*words) == method_functions.rate(*words)


@pytest.mark.parametrize(
    "text", [b"", b"/", b"1/", b"/3", b"0", b"1/0", b"1 ", b"-1", b"1/2/3", b"1e3", b"9" * 60, b"1/" + b"9" * 60]
)
def test_what_is_no_fraction_is_refused(text):
    place = np.zeros(2, np.int64)
    failed = c_method.core().br_rate(text, len(text), 0, 0, 1, place.ctypes.data, place.ctypes.data + 8)
    assert failed and not place.any()
