"""Learning by sums as the vector file calls it: the oracle's, and reference and core together (see functions.py)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.core.interface import br_shrinkage
from bitreplay.data.pictures import fitting
from bitreplay.engine import discriminant, mahalanobis, native_sums, ood
from bitreplay.engine import sums as exact_sums
from bitreplay.engine.answers import ReferenceDiscriminant
from bitreplay.engine.native_discriminant import discriminant_of as native_discriminant_of
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.shrunk_means import shrunk_means
from bitreplay.engine.sums import Sums
from bitreplay.parts.class_statistics import ClassStatistics, ClassStatisticsState
from tests.engine.law.oracles import ood as oracle_ood
from tests.engine.law.oracles import sums as oracle_sums
from tests.engine.sums import steps


def lists(sums: Sums) -> Any:
    return [sums.counts.tolist(), sums.class_sums.tolist(), sums.products.tolist()]


def arrays(sums: Any) -> Sums:
    """The oracle's sums with the types of the law."""
    counts, class_sums, products = (np.array(part, np.int64) for part in sums)
    stored = exact_sums.width(int(counts.sum()))
    return Sums(counts, class_sums.astype(stored), products.astype(stored))


def add_pictures(n_features: int, classes: int, added: Any, taken: Any) -> Any:
    """`added` and `taken`: [pictures, labels] each."""
    found = []
    for add in (exact_sums.add, native_sums.add):
        sums = Sums.empty(n_features, classes)
        for (pictures, labels), sign in ((added, 1), (taken, -1)):
            add(sums, np.array(pictures, np.int8).reshape(-1, n_features), np.array(labels, np.int32), sign)
        found.append(lists(sums))
    return same(found)


def expected_sums(n_features: int, classes: int, added: Any, taken: Any) -> Any:
    sums = oracle_sums.add(oracle_sums.empty(n_features, classes), *added)
    return list(oracle_sums.add(sums, taken[0], taken[1], sign=-1))


def statistics_of(sums: Any) -> ClassStatisticsState:
    """Classes are named by their numbers; those without pictures have no row."""
    counts, class_sums, products = sums
    kept = [number for number, count in enumerate(counts) if count]
    own = arrays(
        [[counts[k] for k in kept], np.array([class_sums[k] for k in kept]).reshape(-1, len(class_sums[0])), products]
    )
    given = {"counts": own.counts, "class_sums": own.class_sums, "products": own.products}
    return ClassStatisticsState(given, {"forgotten": 0}, 1, tuple(kept))


def forget_class(sums: Any, row: int) -> Any:
    class_statistics = ClassStatistics(len(sums[1][0]))
    class_statistics.load_state_dict(statistics_of(sums))
    class_statistics.forget(row)
    return lists(class_statistics.sums)


def merge_since(ours: Any, theirs: Any, base: Any) -> Any:
    class_statistics = ClassStatistics(len(ours[1][0]))
    for state, sign in ((ours, 1), (theirs, 1), (base, -1)):
        class_statistics.combine(statistics_of(state), sign)
    found = lists(class_statistics.sums)
    whole = [[0] * len(ours[0]), [[0] * len(ours[1][0]) for _ in ours[0]], found[2]]
    for row, name in enumerate(class_statistics.names):
        assert isinstance(name, int)
        whole[0][name], whole[1][name] = found[0][row], found[1][row]
    return whole


def fit(picture: Any, side: int) -> Any:
    return fitting.fit_pictures(np.array(picture, np.uint8), side)[0].tolist()


def discriminant_of(sums: Any, parts: Any, lambdas: Any) -> Any:
    """`lambdas`: a fraction for each part, or none for the law's own."""
    found = []
    for solve in (discriminant.solve, steps.solve):
        given = iter(lambdas or [])
        solution = solve(arrays(sums), parts, (lambda *_, g=given: tuple(next(g))) if lambdas else EXACT)
        found.append(
            [solution.weights.tolist(), solution.biases.tolist(), solution.exponent, solution.dropped_features]
        )
    return same(found)


def same(found: list[Any]) -> Any:
    """What the reference and the native core both gave."""
    assert all(other == found[0] for other in found[1:]), "the native core differs from the reference"
    return found[0]


def expected_discriminant(sums: Any, parts: Any, lambdas: Any) -> Any:
    return list(oracle_sums.solve(sums, parts, [Fraction(*pair) for pair in lambdas] if lambdas else None))


def scores(weights: Any, biases: Any, pictures: Any) -> Any:
    solution = discriminant.Solution(np.array(weights, np.int32), np.array(biases, np.int64), 0, 1, 0)
    x = np.array(pictures, np.int8)
    return same([discriminant.scores(solution, x).tolist(), steps.scores(solution, x).tolist()])


def shrinkage_of(constants: Any) -> Shrinkage:
    cap, top, bottom, pictures = constants
    return Shrinkage(cap, Fraction(top, bottom), pictures)


def lambda_of(shrinkage: Any, pictures: Any, features: int) -> Any:
    found, core = [], native_sums.library()
    assert core is not None
    for n in pictures:
        top, bottom = np.zeros(1, np.int64), np.zeros(1, np.int64)
        places = (n, features, top.ctypes.data, bottom.ctypes.data)
        assert core.br_sums_shrinkage(br_shrinkage(*shrinkage), *places) == 0
        native = Fraction(int(top[0]), int(bottom[0])).as_integer_ratio()
        found.append(same([list(shrinkage_of(shrinkage)(n, features, 1, features)), list(native)]))
    return found


def expected_lambda(shrinkage: Any, pictures: Any, features: int) -> Any:
    return [list(oracle_sums.shrinkage(n, features, shrinkage).as_integer_ratio()) for n in pictures]


def answering_of(sums: Any, parts: Any, shrinkage: Any) -> Any:
    """The discriminant with shrunk means."""
    found = []
    for rule in (ReferenceDiscriminant, native_discriminant_of):
        solution = rule(arrays(sums), parts, shrinkage_of(shrinkage)).solution
        figures = [solution.exponent, solution.dropped_features]
        found.append([solution.weights.tolist(), solution.biases.tolist(), *figures])
    return same(found)


def expected_answering(sums: Any, parts: Any, shrinkage: Any) -> Any:
    return list(oracle_ood.answering(sums, parts, shrinkage))


def unseen_of(sums: Any, parts: Any, pictures: Any, share: Any, shrinkage: Any = None) -> Any:
    """As the oracle: figures, the class in the middle, the strangeness of each picture, the limit for a share."""
    given, x, found = arrays(sums), np.array(pictures, np.int8), []
    own = shrinkage_of(shrinkage) if shrinkage else EXACT
    plain, kept = mahalanobis.solved(given, parts, own)
    solution = shrunk_means(given, plain, own)
    for factor, measure in ((kept, mahalanobis.lengths), (steps.factored(given, parts, own), steps.lengths)):
        if measure is steps.lengths:
            got = steps.expected(given, solution, factor, own)
        else:
            got = ood.ood(given, solution, factor, measure, own)
        away = measure(factor, mahalanobis.about_the_middle(factor, x))
        best = discriminant.scores(solution, x).max(axis=1)
        middles = discriminant.scores(ood.as_solution(got, solution), x)[:, 0]
        is_ood = ood.ood_score(factor, *away, solution, best, middles)
        figures = [got.fitted, got.ratio, got.expected, got.temperature, got.weights.tolist(), got.bias]
        found.append([*figures, is_ood.tolist(), ood.limit(got, Fraction(*share))])
    return same(found)
