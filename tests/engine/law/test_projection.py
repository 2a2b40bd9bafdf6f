"""The projection equals an oracle in Python's integers, also where its sums are largest, on every path."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.engine import native
from bitreplay.engine.projection import MAX_OFFSET
from bitreplay.engine.shrinkage import Shrinkage
from bitreplay.engine.sums import MAX_FEATURES
from tests.engine.law.projection_functions import expected_projection, project, projection_of

entries = st.one_of(st.integers(-127, 127), st.sampled_from([-127, 127, 0]))
scales = st.one_of(st.integers(0, 2**31 - 1), st.integers(0, 100), st.just(2**31 - 1))
offsets = st.one_of(st.integers(-MAX_OFFSET, MAX_OFFSET), st.integers(-200, 200))


@pytest.fixture(params=native.available_isas())
def path(request, record_property):
    record_property("path", request.param)
    before = native.isa()
    native.set_isa(request.param)
    yield request.param
    native.set_isa(before)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(data=st.data())
def test_it_equals_the_oracle(data):
    d = data.draw(st.sampled_from([1, 2, 7, 63, 64, 65]))
    k = data.draw(st.integers(1, min(d, 9)))

    def rows(count: int, length: int, of: st.SearchStrategy) -> list:
        return data.draw(st.lists(st.lists(of, min_size=length, max_size=length), min_size=count, max_size=count))

    (scale,), (offset,) = rows(1, k, scales), rows(1, k, offsets)
    given = rows(k, d, entries), scale, offset, data.draw(st.integers(0, 62))
    pictures = rows(data.draw(st.integers(1, 3)), d, entries)
    for rooted in (False, True):
        assert project(*given, pictures, rooted) == expected_projection(*given, pictures, rooted)


@pytest.mark.parametrize("rooted", [False, True])
def test_the_largest_sums_of_the_most_numbers(path, rooted):
    """127^2 * 8192 < 2^27, times 2^31 - 1, plus 2^60: below 2^61, on every path."""
    axes = [[127] * MAX_FEATURES, [-127] * MAX_FEATURES]
    worst = 127**2 * MAX_FEATURES * (2**31 - 1) + MAX_OFFSET
    assert 127**2 * MAX_FEATURES < 2**27 and worst < 2**61
    given = axes, [2**31 - 1] * 2, [MAX_OFFSET, -MAX_OFFSET], 54
    pictures = [[127] * MAX_FEATURES, [-127] * MAX_FEATURES, [1] + [0] * (MAX_FEATURES - 1)]
    found = project(*given, pictures, rooted)
    assert found == expected_projection(*given, pictures, rooted)
    assert found[0] == [80, -80] == [round(worst / 2**54), -round(worst / 2**54)]


@pytest.mark.parametrize("rooted", [False, True])
@pytest.mark.parametrize("d", [640, 2048])
def test_every_path_has_the_same_bits(path, d, rooted):
    rng = np.random.default_rng(d)
    axes, x = rng.integers(-127, 128, (37, d)), rng.integers(-127, 128, (5, d))
    given = axes.tolist(), rng.integers(2**28, 2**30, 37).tolist(), rng.integers(-(2**50), 2**50, 37).tolist(), 44
    assert project(*given, x.tolist(), rooted) == expected_projection(*given, x.tolist(), rooted)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"axes": [[-128, 0]]}, "axes in"),
        ({"axes": [[1], [2]], "scales": [1, 1], "offsets": [0, 0]}, "1 to d axes"),
        ({"scales": [-1]}, "scales of at least 0"),
        ({"offsets": [2**60 + 1]}, "offsets of at most"),
        ({"offsets": [0, 0]}, "for each an int32 scale"),
        ({"shift": 63}, "shift of 0 to 62"),
    ],
)
def test_what_is_no_projection_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        projection_of(**({"axes": [[1, 2]], "scales": [1], "offsets": [0], "shift": 3} | changes))


def test_the_first_axes_are_a_projection_with_a_digest_of_its_own():
    whole = projection_of([[1, 2, 3], [4, 5, 6]], [7, 8], [9, -9], 2)
    x = np.array([[1, -1, 1], [127, 0, -127]], np.int8)
    assert np.array_equal(whole.first(1).of(x), whole.of(x)[:, :1])
    assert whole.first(1).digest() == projection_of([[1, 2, 3]], [7], [9], 2).digest() != whole.digest()
    others = [
        ([[1, 2, 4]], [7], [9], 2),
        ([[1, 2, 3]], [6], [9], 2),
        ([[1, 2, 3]], [7], [8], 2),
        ([[1, 2, 3]], [7], [9], 3),
    ]
    assert len({projection_of(*other).digest() for other in others} | {whole.first(1).digest()}) == 5


def test_the_digest_is_that_of_the_law():
    """LAYERS, sizes and shift, the line of a prior where there is one, and the arrays."""
    arrays = bytes([1, 2, 253]) + (7).to_bytes(4, "little") + (-9).to_bytes(8, "little", signed=True)
    plain = projection_of([[1, 2, -3]], [7], [-9], 2)
    assert plain.digest() == hashlib.sha256(b"head\n1 3 2\n" + arrays).hexdigest()
    rooted = projection_of([[1, 2, -3]], [7], [-9], 2, rooted=True)
    assert rooted.digest() == hashlib.sha256(b"head\n1 3 2\n1 1 1 4 8\n" + arrays).hexdigest()
    prior = replace(rooted, shrinkage=Shrinkage(4, Fraction(1), 4))
    assert prior.digest() == hashlib.sha256(b"head\n1 3 2\n1 4 1 1 4\n" + arrays).hexdigest()
    drawn = replace(plain, shrinkage=Shrinkage(4, Fraction(2, 3), 4))
    assert drawn.digest() == hashlib.sha256(b"head\n1 3 2\n0 4 2 3 4\n" + arrays).hexdigest()
