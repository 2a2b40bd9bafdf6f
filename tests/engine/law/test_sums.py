"""Learning by sums: the reference equals an oracle in integers and fractions, at every accumulator's extreme."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay.engine import discriminant
from bitreplay.engine import sums as exact_sums
from bitreplay.engine.shrinkage import EXACT
from bitreplay.engine.sums import Sums, add, combine
from tests.engine.law.oracles import sums as oracle_sums
from tests.engine.law.sums_functions import arrays, discriminant_of, expected_discriminant, lists

repeatable = settings(max_examples=60, deadline=None, derandomize=True)
entries = st.one_of(st.integers(-127, 127), st.sampled_from([-127, 127, 0]))


def found(sums: Sums, parts: list[int], lambdas: list[tuple[int, int]] | None = None) -> Any:
    """Weights, biases, exponent and how many are left out."""
    return discriminant_of(lists(sums), parts, lambdas)


@st.composite
def pictures(draw: st.DrawFn, most: int = 12) -> tuple[list[list[int]], list[int], int, list[int]]:
    """(pictures, labels, classes, parts)."""
    d, classes, n = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, most))
    rows = draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n))
    cuts = sorted(draw(st.sets(st.integers(1, d - 1)))) if d > 1 else []
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    return rows, labels, classes, [b - a for a, b in pairwise([0, *cuts, d])]


@repeatable
@given(pictures(), st.data())
def test_the_reference_equals_the_oracle(case, data):
    rows, labels, classes, parts = case
    sums = Sums.empty(len(rows[0]), classes)
    add(sums, np.array(rows, np.int8), np.array(labels))
    expected = oracle_sums.add(oracle_sums.empty(len(rows[0]), classes), rows, labels)
    assert lists(sums) == list(expected)
    lambdas = [data.draw(st.sampled_from([(1, 1), (1, 1024), (8, 1), (3, 7)])) for _ in parts]
    assert found(sums, parts) == expected_discriminant(expected, parts, None)
    assert found(sums, parts, lambdas) == expected_discriminant(expected, parts, lambdas)


@repeatable
@given(pictures(), st.sampled_from([None, (1, 1024)]))
def test_the_solution_is_near_the_exact_one(case, shrunk):
    rows, labels, classes, parts = case
    expected = oracle_sums.add(oracle_sums.empty(len(rows[0]), classes), rows, labels)
    exact = oracle_sums.exact(expected, parts, [Fraction(*shrunk)] * len(parts) if shrunk else None)
    solution = discriminant.solve(arrays(expected), parts, (lambda *_: shrunk) if shrunk else EXACT)
    unit = Fraction(2) ** solution.exponent * solution.pictures
    largest = max(abs(v) for row in exact for v in row)
    present = [c for c, count in enumerate(expected[0]) if count]
    for row, weights in zip(exact, solution.weights[present].tolist(), strict=True):
        assert max(abs(v - w * unit) for v, w in zip(row, weights, strict=True)) <= largest / 10**5


@repeatable
@given(pictures(), st.randoms(use_true_random=False), st.integers(1, 4))
def test_order_and_grouping_do_not_matter(case, random, groups):
    rows, labels, classes, _ = case
    x, n_features = np.array(rows, np.int8), np.array(labels)
    whole = Sums.empty(x.shape[1], classes)
    add(whole, x, n_features)
    order = list(range(len(rows)))
    random.shuffle(order)
    total = Sums.empty(x.shape[1], classes)
    for group in range(groups):
        part, chosen = Sums.empty(x.shape[1], classes), order[group::groups]
        for at in chosen:
            add(part, x[at : at + 1], n_features[at : at + 1])
        combine(total, part)
    assert lists(total) == lists(whole)
    taken = order[: len(order) // 2]
    add(total, x[taken], n_features[taken], sign=-1)
    rest = Sums.empty(x.shape[1], classes)
    add(rest, x[order[len(order) // 2 :]], n_features[order[len(order) // 2 :]])
    assert lists(total) == lists(rest)
    combine(whole, rest, sign=-1)
    add(rest, x[taken], n_features[taken])
    combine(rest, whole, sign=-1)
    assert lists(rest) == lists(total)


def alternating(n: int, d: int) -> list[list[int]]:
    """Rows of +-127 in all combinations of signs."""
    return [[127 if (row >> i) & 1 else -127 for i in range(d)] for row in range(n)]


def of(rows: list[list[int]], labels: list[int], classes: int) -> Any:
    return oracle_sums.add(oracle_sums.empty(len(rows[0]), classes), rows, labels)


def scaled(sums: Any, factor: int) -> Any:
    """The sums of every picture `factor` times."""
    return [n * factor for n in sums[0]], [[s * factor for s in row] for row in sums[1]], [g * factor for g in sums[2]]


EXTREMES = {
    "one picture": (of([[127, -127, 3]], [0], 1), [3]),
    "one class": (of([[5, 6], [7, -8], [9, 10]], [0, 0, 0], 1), [2]),
    "equal pictures": (of([[127, -127, 100]] * 9, [0, 0, 0, 1, 1, 1, 2, 2, 2], 3), [2, 1]),
    "constant numbers": (of([[i * 7 % 11, 127, -127, 0] for i in range(8)], [0, 1] * 4, 2), [4]),
    "constant parts": (of([[i * 7 % 11, 127, -127, 0] for i in range(8)], [0, 1] * 4, 2), [1, 1, 1, 1]),
    "constant in each class": (of([[i * 7 % 11, i % 2 * 90, 3] for i in range(8)], [0, 1] * 4, 2), [1, 2]),
    "equal numbers": (of([[i * 7 % 11] * 5 for i in range(40)], [0, 1] * 20, 2), [5]),
    "d + 1 pictures": (of([[(i * i + j) % 17 for j in range(6)] for i in range(7)], [0, 1, 2, 0, 1, 2, 0], 3), [6]),
    "all +-127": (of(alternating(16, 4), [0, 1] * 8, 2), [4]),
    "all +-127, one class": (of(alternating(16, 4), [0] * 16, 1), [4]),
    "131,072 pictures of +-127": (scaled(of(alternating(16, 4), [0, 1] * 8, 2), 8192), [4]),
    "131,073 pictures": (of([[127] * 4], [0], 2), [4]),  # added to the ones above, below
    "2^31 - 16 pictures of +-127": (scaled(of(alternating(16, 4), [0, 1] * 8, 2), 2**27 - 1), [4]),
    "2^31 - 16 pictures, one class": (scaled(of(alternating(16, 4), [0] * 16, 1), 2**27 - 1), [4]),
    "2^31 - 16 pictures, hardly varied": (
        (lambda s: ([s[0][0] + 1], [[v + 1 for v in s[1][0]]], [v + 1 for v in s[2]]))(
            scaled(of([[0, 0, 0]], [0], 1), 2**31 - 17)
        ),
        [3],
    ),
    "10,000 classes": (of([[c % 127, c // 127, -(c % 50)] for c in range(10000)], list(range(10000)), 10000), [3]),
    "10,000 classes of two": (
        of([[(c * k) % 127, c // 127, -(c % 50)] for c in range(10000) for k in (1, 2)],
           [c for c in range(10000) for _ in (1, 2)], 10000), [2, 1]),
}  # fmt: skip
first, second = EXTREMES["131,072 pictures of +-127"][0], EXTREMES["131,073 pictures"][0]
EXTREMES["131,073 pictures"] = (
    (
        [a + b for a, b in zip(first[0], second[0], strict=True)],
        [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(first[1], second[1], strict=True)],
        [a + b for a, b in zip(first[2], second[2], strict=True)],
    ),
    [4],
)


@pytest.mark.parametrize("name", EXTREMES)
def test_the_extremes(name):
    sums, parts = EXTREMES[name]
    stored = arrays(sums)
    assert stored.class_sums.dtype == (np.int32 if sum(sums[0]) <= 131072 else np.int64)
    stored.check()
    others = [[(1, 1024)] * len(parts), [(8, 1)] * len(parts)] if len(sums[0]) < 10 else []  # the oracle is slow
    for lambdas in (None, *others):
        assert found(stored, parts, lambdas) == expected_discriminant(sums, parts, lambdas)


def test_equal_numbers_share_a_weight():
    """Five equal numbers are one: within rounding their weights are equal, and none is left out."""
    sums, parts = EXTREMES["equal numbers"]
    weights, _, _, dropped_features = found(arrays(sums), parts)
    assert dropped_features == 0 and np.ptp(weights, axis=1).max() < 2**30 // 10**5


def test_the_width_is_a_function_of_the_number_of_pictures():
    x = np.array(alternating(16, 4), np.int8)
    sums = arrays(EXTREMES["131,072 pictures of +-127"][0])
    before = lists(sums)
    add(sums, x[-1:], np.array([0]))
    assert sums.products.dtype == np.int64 and lists(sums) == list(EXTREMES["131,073 pictures"][0])
    add(sums, x[-1:], np.array([0]), sign=-1)
    assert sums.products.dtype == np.int32 and lists(sums) == before
    two = sums.copy()
    combine(two, sums)
    assert two.products.dtype == np.int64
    combine(two, sums, sign=-1)
    assert two.products.dtype == np.int32 and lists(two) == before


def test_a_class_without_pictures_is_never_the_answer():
    x = np.array([[3, 1], [5, 1], [-3, 0]], np.int8)
    sums = Sums.empty(2, 4)
    add(sums, x, np.array([1, 1, 3]))
    answers = discriminant.answers(discriminant.solve(sums, [2]), np.array([[4, 1], [-4, 0], [127, -127]], np.int8))
    assert answers.tolist()[:2] == [1, 3] and set(answers.tolist()) <= {1, 3}


def test_equal_classes_answer_the_first():
    x = np.array([[3, 1], [5, 1], [3, 1], [5, 1]], np.int8)
    sums = Sums.empty(2, 3)
    add(sums, x, np.array([1, 1, 2, 2]))
    assert set(discriminant.answers(discriminant.solve(sums, [2]), x).tolist()) == {1}


def test_placed_sums_are_those_of_placed_classes():
    x = np.array([[3, 1], [5, 1], [-3, 0]], np.int8)
    sums, other = Sums.empty(2, 2), Sums.empty(2, 5)
    add(sums, x, np.array([0, 0, 1]))
    add(other, x, np.array([3, 3, 1]))
    assert lists(sums.placed(np.array([3, 1]), 5)) == lists(other)


REFUSED: dict[str, Any] = {
    "int8": (np.zeros((1, 2), np.int16), [0], 1),
    r"\[-127, 127\], got -128": (np.full((1, 2), -128, np.int8), [0], 1),
    "below 2, got 2": (np.zeros((1, 2), np.int8), [2], 1),
    "one class number": (np.zeros((1, 2), np.int8), [0, 0], 1),
    "fewer images": (np.zeros((1, 2), np.int8), [0], -1),
    "sign must be": (np.zeros((1, 2), np.int8), [0], 2),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_does_not_fit_is_refused_and_nothing_changes(message):
    x, labels, sign = REFUSED[message]
    sums = Sums.empty(2, 2)
    with pytest.raises(ValueError, match=f"(?i){message}"):
        add(sums, x, np.array(labels), sign)
    assert lists(sums) == lists(Sums.empty(2, 2))


def test_sums_that_no_pictures_have_are_refused():
    for change in ("counts", "class_sums", "products"):
        sums = arrays(EXTREMES["all +-127"][0])
        getattr(sums, change).ravel()[0] = -1 if change == "counts" else 2**20
        with pytest.raises(ValueError, match="Sums must have|not sums"):
            discriminant.solve(sums, [4])
    with pytest.raises(ValueError, match="no images"):
        discriminant.solve(Sums.empty(2, 2), [2])
    with pytest.raises(ValueError, match="add up to 4"):
        discriminant.solve(arrays(EXTREMES["all +-127"][0]), [2, 1])
    with pytest.raises(ValueError, match="lambda must be in"):
        discriminant.solve(arrays(EXTREMES["all +-127"][0]), [4], lambda *_: (1, 2000))
    with pytest.raises(ValueError, match="must be int64, got"):
        sums = arrays(EXTREMES["131,073 pictures"][0])
        sums.products = sums.products.astype(np.int32)
        discriminant.solve(sums, [4])
    with pytest.raises(ValueError, match="at most"):
        many = arrays(EXTREMES["2^31 - 16 pictures, one class"][0])
        combine(many, many)


def test_the_fewest_pictures_that_are_wide():
    assert exact_sums.width(131072) == np.int32 and exact_sums.width(131073) == np.int64
    assert 127 * 127 * 131072 < 2**31 <= 127 * 127 * 134217
