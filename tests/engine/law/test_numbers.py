"""Sections 1 to 6 and 9 of the law: the engine's functions against the oracle, on all that hypothesis finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.engine.arithmetic import counter, fixedpoint, packing, quant, sgd
from bitreplay.engine.operations import Run
from tests.engine.law import numbers

LARGEST = 2**62 - 1
repeatable = settings(deadline=None, derandomize=True, max_examples=100)
whole = st.integers(-LARGEST, LARGEST)
small = st.integers(-20, 20)
widths = st.sampled_from((8, 16, 32))
exponents = st.one_of(st.integers(-200, 50), st.just(numbers.NO_GRADIENT))
words32 = st.integers(0, 2**32 - 1)


def int64(x):
    return np.array(x, np.int64)


@repeatable
@given(st.one_of(whole, small), st.integers(0, 80))
def test_round_shift_is_nearest_with_ties_away_from_zero(x, shift):
    assert fixedpoint.round_shift(int64([x]), shift)[0] == numbers.nearest(Fraction(x, 2**shift))


@repeatable
@given(small, st.integers(0, 57))
def test_a_left_shift_is_exact(x, shift):
    assert fixedpoint.round_shift(int64([x]), -shift)[0] == x * 2**shift


@pytest.mark.parametrize("shift", range(1, 12))
def test_rounding_has_no_bias(shift):
    """Over a range that is symmetric about 0 the errors cancel; with ties rounded up they would add half a unit."""
    x = np.arange(-(2**12), 2**12 + 1)
    assert fixedpoint.round_shift(x, shift).sum() == 0
    ties = np.arange(-21, 22, 2) * 2 ** (shift - 1)
    assert np.array_equal(np.abs(fixedpoint.round_shift(ties, shift)), np.abs(ties // 2 ** (shift - 1)) // 2 + 1)


@repeatable
@given(whole, st.integers(-1, 90), words32)
def test_stochastic_shift(x, shift, random):
    x = x >> 2 if shift < 0 else x
    found = fixedpoint.stochastic_shift(int64([x]), shift, np.array([random], np.uint32))[0]
    assert found == numbers.stochastic_shift(x, shift, random)


@pytest.mark.parametrize("x", [-9, -4, -1, 0, 1, 3, 5, 8])
@pytest.mark.parametrize("shift", [2, 3, 7])
def test_stochastic_shift_is_right_on_average(x, shift):
    """Exactly: over all 2^shift values of the highest random bits the results add up to x."""
    random = (np.arange(2**shift, dtype=np.uint64) << np.uint64(32 - shift)).astype(np.uint32)
    assert fixedpoint.stochastic_shift(int64([x]), shift, random).sum() == x


@repeatable
@given(st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**12))
def test_a_multiplier_has_31_bits(value):
    found = fixedpoint.Multiplier.of(value)
    assert (found.mantissa, found.shift) == numbers.multiplier(value)
    assert value == 0 or 2**30 <= abs(found.mantissa) < 2**31
    assert abs(found.value - value) <= abs(value) / 2**31


@repeatable
@given(st.integers(-(2**31), 2**31), st.integers(2**30, 2**31 - 1), st.integers(0, 62))
def test_a_product_is_rounded_once(x, mantissa, shift):
    assert fixedpoint.Multiplier(mantissa, shift).times(int64([x]))[0] == numbers.round_shift(x * mantissa, shift)


@repeatable
@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_bits(ones):
    words = packing.pack(np.array(ones))
    assert words.tolist() == numbers.pack(ones)
    assert packing.unpack(words, len(ones)).tolist() == ones
    assert packing.signs(words, len(ones)).tolist() == [1 if one else -1 for one in ones]


@repeatable
@given(st.integers(-(2**63), 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), words32)
def test_the_generator(seed, step, tensor, element):
    key = counter.key(seed, step, tensor)
    assert key == numbers.key(seed, step, tensor)
    assert counter.random_bits(key, np.array([element], np.uint32))[0] == numbers.random_bits(key, element)


def test_random_bits_are_even():
    """Each of 32 bits over 4,096 elements of 64 keys: a fair coin is 1 within 6 standard deviations (of 256)."""
    elements = np.arange(4096, dtype=np.uint32)
    drawn = np.concatenate([counter.random_bits(counter.key(3, step, 1), elements) for step in range(64)])
    ones = [int(((drawn >> np.uint32(bit)) & 1).sum()) for bit in range(32)]
    assert max(abs(count - len(drawn) // 2) for count in ones) < 6 * 256
    assert len(np.unique(drawn)) > 0.999 * len(drawn)


@repeatable
@given(st.fractions(-100, 100), st.fractions(-100, 100), widths)
def test_activation_scales(one, other, width):
    low, high = min(one, other), max(one, other)
    found = quant.Activation.of_range(low, high, width)
    assert (found.scale, found.zero) == numbers.activation(low, high, width)
    assert found.low <= found.zero <= found.high, "0 is stored exactly"
    reach = found.scale * (found.high - found.zero), found.scale * (found.low - found.zero)
    assert reach[0] >= max(high, 0) - found.scale / 2 and reach[1] <= min(low, 0) + found.scale / 2


rows = st.lists(st.lists(st.one_of(whole, small), min_size=3, max_size=3), min_size=1, max_size=4)


@repeatable
@given(rows, st.data(), widths)
def test_quantise_samples(values, data, width):
    before = data.draw(st.lists(st.integers(-200, 50), min_size=len(values), max_size=len(values)))
    stored, after = quant.quantise_samples(int64(values), int64(before), width)
    for n, row in enumerate(values):
        assert (stored[n].tolist(), after[n]) == numbers.quantise(row, before[n], width)
        limit = 2 ** (numbers.SIGNIFICANT[width] - 1)
        assert np.abs(int64(stored[n])).max() < limit
        if any(row):
            unit = Fraction(2) ** int(after[n] - before[n])
            assert all(abs(int(s) * unit - v) <= unit / 2 for s, v in zip(stored[n], row, strict=True))
        else:
            assert after[n] == quant.NO_GRADIENT


@repeatable
@given(st.integers(1, 4), st.integers(1, 60), st.integers(1, 62), st.data())
def test_align_and_merge(samples, first_bound, second_bound, data):
    def term(bound):
        below = st.lists(st.integers(1 - 2**bound, 2**bound - 1), min_size=2, max_size=2)
        return [data.draw(below) for _ in range(samples)], [data.draw(exponents) for _ in range(samples)]

    terms = [(*term(bound), bound) for bound in (first_bound, second_bound)]
    for values, exponent, _ in terms:
        for n, e in enumerate(exponent):
            values[n] = [0, 0] if e == numbers.NO_GRADIENT else values[n]
    aligned, common = quant.align([(int64(v), int64(e), b) for v, e, b in terms])
    for n in range(samples):
        expected, exponent = numbers.align([(v[n], e[n], b) for v, e, b in terms])
        assert ([part[n].tolist() for part in aligned], common[n]) == (expected, exponent)
        assert all(abs(v) <= 2**60 for part in expected for v in part)
    values, exponent, bound = terms[1]
    total, found = quant.merge_samples(int64(values), int64(exponent), bound)
    assert (total.tolist(), found) == numbers.merge(values, exponent, bound)
    assert all(abs(v) < 2**62 for v in total.tolist())


@repeatable
@given(st.integers(1 - 2**31, 2**31 - 1), whole, exponents, st.integers(2**30, 2**31 - 1), st.integers(-60, 60),
       st.integers(1, 160), st.integers(0, 2**64 - 1))  # fmt: skip
def test_descend(master, gradient, exponent, mantissa, shift, samples, seed):
    gradient = 0 if exponent == numbers.NO_GRADIENT else gradient
    rate = numbers.multiplier(Fraction(1, 100))
    run = Run(samples, seed, 7, *rate)
    found = sgd.descend(np.array([master], np.int32), int64([gradient]), exponent, mantissa, shift, run, 3)
    random = numbers.random_bits(numbers.key(seed, 7, 3), 0)
    step = numbers.step_multiplier(mantissa, shift, rate, samples)
    assert found[0] == numbers.descend(master, gradient, exponent, step, random)


def test_small_steps_count():
    """100 steps of 1/1000 unit on 4,096 masters: 409.6 units in all, within 6 standard deviations."""
    masters, gradient = np.zeros(4096, np.int32), np.ones(4096, np.int64)
    constant, one = numbers.multiplier(Fraction(1, 1000)), numbers.multiplier(Fraction(1))
    for step in range(100):
        masters = sgd.descend(masters, gradient, 0, *constant, Run(1, 5, step, *one), 0)
    moved, expected = -int(masters.astype(np.int64).sum()), 409.6
    assert abs(moved - expected) < 6 * expected**0.5
