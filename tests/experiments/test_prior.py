"""Rules of experiments/prior.py: `exact` answers as the integers do, a target's axes shrink towards that target."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bitreplay.engine import native_sums
from bitreplay.engine.shrinkage import Shrinkage
from bitreplay.engine.sums import Sums
from bitreplay.prediction.discriminant_predictor import IntegerDiscriminant
from bitreplay.zoo.prior_axes import PRIOR, neighbours, part_means, prior_axes, rooted, whitening_axes

FOLDER, PARTS = Path(__file__).resolve().parents[2] / "experiments", [5, 7]


@pytest.fixture(autouse=True)
def experiments(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


def pictures(count, seed=0):
    """Features of both parts, correlated, of three classes that overlap."""
    rng = np.random.default_rng(seed)
    labels, mixing = np.arange(count) % 3, np.random.default_rng(9).normal(size=(12, 12))
    x = 9 * rng.normal(size=(count, 12)) @ mixing + 12 * np.eye(3, 12)[labels] - 30
    return np.clip(np.rint(x), -127, 127).astype(np.int8), labels


def test_exact_in_float64_answers_as_the_integers_do():
    from prior import EXACT, Prior, answers

    (x, labels), (queries, _) = pictures(90), pictures(500, seed=1)
    x -= np.arange(90)[:, None] < x.sum(axis=0, dtype=np.int64) % 90  # a whole mean: the law's mu is rounded
    sums = Sums.empty(12, 3)
    native_sums.add(sums, x, labels)
    expected = IntegerDiscriminant(sums, PARTS).labels(queries)
    prior = Prior(x, PARTS)
    found = answers(EXACT, prior, prior.seen(EXACT, x), labels, prior.seen(EXACT, queries))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("target", ["total", "neighbours"])
def test_axes_shrink_towards_the_target(root, target):
    from prior import Prior, Rule, answers

    rule, (pool, _) = Rule("", root=root, target=target, share=0.5, components=12), pictures(400, seed=2)
    (x, labels), (queries, _) = pictures(30), pictures(300, seed=1)
    prior = Prior(pool, PARTS)
    found = answers(rule, prior, prior.seen(rule, x), labels, prior.seen(rule, queries))

    p, x, queries = (
        values.astype(float) for values in (map(rooted, (pool, x, queries)) if root else (pool, x, queries))
    )
    total = np.cov(p.T, bias=True)
    diagonal = np.diag(np.repeat([total.diagonal()[:5].mean(), total.diagonal()[5:].mean()], PARTS))
    within = total if target == "total" else neighbours(p.astype(np.int8), _inverse_root((total + diagonal) / 2))
    aim = (within * np.trace(diagonal) / np.trace(within) + diagonal) / 2
    means = np.stack([x[labels == label].mean(axis=0) for label in range(3)])
    apart = x - means[labels]
    scatter = apart.T @ apart / len(x)
    matrix = scatter + 0.4 * np.trace(np.linalg.solve(aim, scatter)) / 12 * aim  # lambda = 12 / 30
    away = (means - x.mean(axis=0)) * 10 / 14
    weights = np.linalg.solve(matrix, away.T)
    scores = (queries - x.mean(axis=0)) @ weights - 0.5 * (away.T * weights).sum(axis=0)
    np.testing.assert_array_equal(found, scores.argmax(axis=1))


def _inverse_root(matrix):
    return np.linalg.cholesky(np.linalg.inv(matrix))


def test_the_librarys_projection_is_the_rule_in_integers():
    from prior import RULES, Prior, answers

    rule, (pool, _) = next(rule for rule in RULES if rule.name == "root, neighbours, int8"), pictures(400, seed=2)
    (x, labels), (queries, _) = pictures(30), pictures(300, seed=1)
    prior, projection = Prior(pool, PARTS), prior_axes(pool, "head", PARTS, 12)
    y, asked = projection.of(x), projection.of(queries)
    assert np.array_equal(y, prior.seen(rule, x)) and np.array_equal(asked, prior.seen(rule, queries))
    assert (rule.cap, rule.factor, rule.k) == (PRIOR.cap, float(PRIOR.factor), PRIOR.pictures)
    y -= np.arange(30)[:, None] < y.sum(axis=0, dtype=np.int64) % 30  # a whole mean: the law's mu is rounded
    sums = Sums.empty(12, 3)
    native_sums.add(sums, y, labels)
    found = IntegerDiscriminant(sums, [12], PRIOR).labels(asked)
    np.testing.assert_array_equal(found, answers(rule, prior, y.astype(float), labels, asked.astype(float)))


def test_share_and_constants_of_a_prior_are_those_that_are_named():
    pool, _ = pictures(400, seed=2)
    constants = Shrinkage(2, Fraction(1, 2), 4)
    made = prior_axes(pool, "head", PARTS, 12, share=0.1, shrinkage=constants)
    assert made.shrinkage == constants and made.root
    axes, _, total = whitening_axes(rooted(pool), PARTS, share=0.0)
    target = np.diag(part_means(total.diagonal(), PARTS))
    np.testing.assert_allclose(axes @ target @ axes.T, np.eye(12), atol=1e-9)
    assert not np.array_equal(made.axes, prior_axes(pool, "head", PARTS, 12).axes)


def test_neighbours_are_the_nearest_five_by_the_cosine():
    x, _ = pictures(40)
    scatter, y = np.zeros((12, 12)), x - x.mean(axis=0)
    for i in range(40):
        cosine = [-np.inf if j == i else y[i] @ y[j] / np.linalg.norm(y[i]) / np.linalg.norm(y[j]) for j in range(40)]
        for j in np.argsort(cosine)[-5:]:
            apart = x[i].astype(float) - x[j]
            scatter += np.outer(apart, apart) / 2
    np.testing.assert_allclose(neighbours(x, np.eye(12)), scatter / 200, rtol=1e-5)


def test_held_out_pictures_are_training_pictures_that_are_not_learned():
    from instead import PhotographSet
    from prior import held_out

    labels, order = np.repeat([0, 1], 100), np.tile(np.r_[np.arange(90), np.full(10, -1)], 2)
    data = PhotographSet("", [], labels, order)
    place, asked = held_out(data, 0)
    assert not (asked & (place >= 0)).any() and not asked[order < 0].any() and (place[order < 0] == -1).all()
    for label in (0, 1):
        assert sorted(place[(labels == label) & (place >= 0)]) == list(range(50)) and asked[labels == label].sum() == 40
    assert not np.array_equal(asked, held_out(data, 1)[1])
