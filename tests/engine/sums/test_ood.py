"""Lengths and what unseen pictures are expected to look like: against float64, on every path, at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from bitreplay.engine import discriminant, mahalanobis, native, ood
from bitreplay.engine.arithmetic import fixedpoint
from bitreplay.engine.shrinkage import EXACT
from bitreplay.engine.shrunk_means import shrunk_means
from bitreplay.engine.sums import Sums, add
from tests.engine.float_trap import trap
from tests.engine.sums import steps


def learned(pictures: int, parts: list[int], classes: int, seed: int, mixed: bool = True) -> tuple[Sums, np.ndarray]:
    """Sums of pictures whose numbers vary together, and other pictures of the same classes."""
    rng, d = np.random.default_rng(seed), sum(parts)
    means, spread = rng.normal(0, 15, (classes, d)), rng.normal(0, 1, (d, d)) * rng.uniform(0.5, 3, d)
    labels = np.arange(2 * pictures) % classes
    x = means[labels] + (rng.normal(0, 1, (2 * pictures, d)) @ spread if mixed else 0)
    n_features = np.clip(np.rint(x), -127, 127).astype(np.int8)
    sums = Sums.empty(d, classes)
    add(sums, n_features[:pictures], labels[:pictures])
    return sums, n_features[pictures:]


def made(sums: Sums, parts: list[int]) -> tuple[discriminant.Solution, mahalanobis.Factor, ood.OodModel]:
    plain, factor = mahalanobis.solved(sums, parts)
    solution = shrunk_means(sums, plain)
    return solution, factor, ood.ood(sums, solution, factor, mahalanobis.lengths)


def covariance(sums: Sums, parts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """A and lambda D in float64."""
    d, n = sums.n_features, sums.pictures
    lower = np.zeros((d, d))
    lower[np.tril_indices(d)] = sums.products
    means = sums.class_sums / sums.counts[:, None]
    scatter = (lower + np.tril(lower, -1).T - means.T @ sums.class_sums) / n
    top, bottom = EXACT(n, d, sums.classes, d)
    pieces = np.split(np.diagonal(scatter), np.cumsum(parts)[:-1])
    ridge = np.concatenate([np.full(len(piece), piece.mean()) for piece in pieces]) * (top / bottom)
    return scatter + np.diag(ridge), ridge


@pytest.mark.parametrize(("pictures", "parts", "classes"), [(60, [12, 9], 3), (400, [16], 4), (30, [20, 5, 15], 2)])
def test_figures_are_near_those_of_float64(pictures, parts, classes):
    sums, others = learned(pictures, parts, classes, 1)
    solution, factor, found = made(sums, parts)
    matrix, ridge = covariance(sums, parts)
    inverse, n = np.linalg.inv(matrix), sums.pictures
    y = mahalanobis.about_the_middle(factor, others)
    squares, exponents = mahalanobis.lengths(factor, y)
    expected = np.einsum("ni,ij,nj->n", y, inverse, y)
    assert np.allclose(squares * 2.0 ** (exponents + factor.point) * n, expected, rtol=1e-5)
    # The trace over signs, and near the trace itself.
    start, rest = 0, 0.0
    for part, length in enumerate(parts):
        signs = ood.probes(factor, part)
        used = np.abs(signs).sum(axis=0)
        assert (used[start : start + length] == 32).all() and used.sum() == 32 * length
        rest += ridge[start] * np.einsum("ni,ij,nj->n", signs, inverse, signs).mean()
        start += length
    fitted = sum(parts) - rest
    assert found.fitted / 2**16 == pytest.approx(fitted, abs=0.01)
    assert fitted == pytest.approx(sum(parts) - (ridge * np.diagonal(inverse)).sum(), rel=0.1)
    ratio = n / (n - fitted)
    assert found.ratio / 2**24 == pytest.approx(ratio, rel=1e-4)
    assert found.expected / 2**16 == pytest.approx(fitted * ratio**2, rel=1e-3)
    counts = sums.counts
    away = (sums.class_sums / counts[:, None] - factor.centre) * (counts / (counts + 8))[:, None]
    mean = counts @ away / n
    separation = counts @ np.einsum("ci,ij,cj->c", away, inverse, away) / n - mean @ inverse @ mean
    assert found.temperature / 2**16 == pytest.approx(max(1, 0.75 * np.sqrt(separation * ratio)), rel=1e-3)
    scores = (y @ inverse @ away.T - 0.5 * np.einsum("ci,ij,cj->c", away, inverse, away)).max(axis=1)
    middles = y @ inverse @ mean - 0.5 * mean @ inverse @ mean
    best = discriminant.scores(solution, others).max(axis=1)
    of_the_middle = discriminant.scores(ood.as_solution(found, solution), others)[:, 0]
    is_ood = ood.ood_score(factor, squares, exponents, solution, best, of_the_middle) / 2**16
    assert np.allclose(is_ood, expected / 8 - scores + 0.75 * middles, rtol=1e-3, atol=0.02)


@pytest.mark.parametrize("path", native.built_isas())
def test_every_path_equals_the_reference(path, record_property):
    record_property("path", path)
    if path not in native.available_isas():
        pytest.skip(f"This CPU lacks the instruction set {path}: lengths were not tested on it.")
    before = native.isa()
    native.set_isa(path)
    try:
        for seed, (pictures, parts, classes) in enumerate(
            [(1, [1], 1), (2, [3], 2), (9, [5, 4], 3), (40, [17], 2), (70, [31, 2], 5), (150, [33, 31], 20)]
        ):
            for mixed in (True, False):
                same(*learned(pictures, parts, classes, seed, mixed), parts)
    finally:
        native.set_isa(before)


def assert_equal(found: Sequence[object], expected: Sequence[object]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert all(np.array_equal(vars(one)[name], vars(other)[name]) for name in vars(other)), (one, other)


def same(sums: Sums, others: np.ndarray, parts: list[int]) -> None:
    kept = np.flatnonzero(sums.counts)
    sums = Sums(sums.counts[kept], sums.class_sums[kept], sums.products)
    solution, factor, found = made(sums, parts)
    fast = steps.factored(sums, parts)
    for name in ("rows", "halves", "centre", "parts", "ridges", "point", "pictures", "dropped_features"):
        assert np.array_equal(getattr(fast, name), getattr(factor, name)), name
    assert_equal(mahalanobis.solved(sums, parts)[:1], [discriminant.solve(sums, parts)])
    y = mahalanobis.about_the_middle(factor, others)
    y = np.concatenate([y, np.zeros_like(y[:1]), np.full_like(y[:1], 254), np.eye(sum(parts), dtype=np.int16)])
    for right, got in zip(mahalanobis.lengths(factor, y), steps.lengths(fast, y), strict=True):
        assert np.array_equal(right, got)
    again = steps.expected(sums, solution, fast)
    assert np.array_equal(again.weights, found.weights)
    assert vars(again) | {"weights": 0} == vars(found) | {"weights": 0}


def test_2_31_pictures_overflow_nothing():
    """As many pictures as there may be, all numbers at their ends: against Python's integers of any size."""
    n = (1 << 31) - 1
    half = n // 2
    ends = np.array([[127, -127], [-127, 127]], np.int64)
    class_sums = ends * np.array([[half], [n - half]])
    sums = Sums(np.array([half, n - half]), class_sums, np.array([127**2 * n, -(127**2) * n, 127**2 * n]))
    solution, factor, found = made(sums, [2])
    assert found.fitted <= 2 << 16 and found.ratio >= 1 << 24
    same(sums, np.array([[127, 127]], np.int8), [2])
    best = discriminant.scores(solution, np.array([[127, -127]], np.int8)).max(axis=1)
    value = Fraction(int(best[0])) * n * Fraction(2) ** (solution.exponent + 16)
    got = int(ood.scaled(best, n, solution.exponent)[0])
    assert got == min(1 << 46, got) and (got == 1 << 46 or abs(got - value) <= value / 2**28 + 1)


def test_what_is_too_large_is_cut_and_what_is_too_small_is_0():
    assert ood.scaled(np.array([5, -5, 0]), 3, 60).tolist() == [1 << 46, -(1 << 46), 0]
    assert ood.scaled(np.array([5, -5]), 3, -90).tolist() == [0, 0]
    assert ood.scaled(np.array([(1 << 60) - 1]), (1 << 62) - 1, -122).tolist() == [1 << 16]
    assert ood.scaled(np.array([3, -3]), 1, -17).tolist() == [2, -2], "ties away from zero"


def test_the_limit_follows_the_curve():
    found = ood.OodModel(0, 0, 1000 << 16, 0, np.zeros(1, np.int32), 0)
    at = {percent: ood.limit(found, Fraction(percent, 100)) / (1 << 16) for percent, _ in ood.CURVE}
    assert all(at[percent] == pytest.approx(thousandths, rel=1e-3) for percent, thousandths in ood.CURVE)
    limits = [ood.limit(found, Fraction(k, 1000)) for k in range(1, 1000)]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] == limits[9] and limits[-1] == limits[499], "beyond 1 % and 50 % nothing changes"


def test_lengths_and_expectations_make_no_float():
    sums, others = learned(40, [6, 3], 3, 5)
    expected = made(sums, [6, 3])[2]
    with trap([mahalanobis, ood, discriminant, fixedpoint]):
        found = made(sums, [6, 3])[2]
    assert found.temperature == expected.temperature
