"""The law's vectors of learning by sums and of pictures (docs/law/), by the learner in C and the functions below it.

States come and go as files; a learner has as many numbers of a picture as a vector: those of a projection.
"""

from __future__ import annotations

import ctypes
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner, statefile
from bitreplay.core.interface import br_discriminant, br_shrinkage, br_solution, br_sums, br_sums_part
from bitreplay.engine.aligned import aligned_zeros
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.feature_program import compile_features
from bitreplay.engine.native_sums import library as sums_library
from bitreplay.engine.projection import Projection
from bitreplay.engine.sums import width
from bitreplay.export.image import packed
from bitreplay.parts.digests import DigestsState
from bitreplay.parts.lineage import Lineage
from bitreplay.parts.state import State
from bitreplay.statefile import Content
from bitreplay.strategies.exact import statistics_of
from tests.core.c_learner import CLearner, check, fitted
from tests.core.test_c_unknown import as_share
from tests.engine.law import sums_functions

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "law"


def cases(*functions: str) -> Any:
    all_cases = [
        case for name in ("sums", "ood", "pictures") for case in json.loads((FOLDER / f"{name}.json").read_text())
    ]
    chosen = [case for case in all_cases if case["function"] in functions]
    assert {case["function"] for case in chosen} == set(functions)
    return pytest.mark.parametrize("case", chosen, ids=[f"{case['function']}, {case['name']}" for case in chosen])


class Vectors:
    """Learners in C of any number of numbers, and states for them."""

    def __init__(self, model: Path) -> None:
        self.learner = Learner.from_pretrained(model, strategy="exact")

    def of(self, n_features: int, shrinkage: Any = None) -> CLearner:
        model = self.learner.model
        layers = self.learner.settings.feature_layers
        assert model is not None and layers is not None
        own = self.learner.strategy.latent_shape[0]
        axes, scales = np.ones((n_features, own), np.int8), np.ones(n_features, np.int32)
        projection = Projection(layers, axes, scales, np.zeros(n_features, np.int64), 8)
        program = compile_features(model.graph, layers, Bits(), 1, projection)
        more = {"shrinkage": np.array(shrinkage, "<u4").tobytes()} if shrinkage else {}
        return CLearner(packed(model, self.learner.settings, {"features": program}, more), wide=1)

    def state(self, sums: Any) -> bytes:
        statistics = sums_functions.statistics_of(sums)
        state = State(
            statistics.names,
            {"sums": statistics, "digests": DigestsState({})},
            {},
            {"experiences": 1},
            Lineage().arrays(),
        )
        model = self.learner.model
        assert model is not None
        return statefile.to_bytes(Content(model.name, model.digest, self.learner.settings, state, model.size))

    def with_state(self, sums: Any, shrinkage: Any = None) -> CLearner:
        learner = self.of(len(sums[1][0]), shrinkage)
        learner.from_bytes(self.state(sums))
        return learner


@pytest.fixture(scope="module")
def vectors(tiny_model) -> Vectors:
    return Vectors(tiny_model)


def sums_of(learner: CLearner, classes: int) -> Any:
    """What its state file holds; classes without pictures have zeros."""
    statistics = statistics_of(statefile.from_bytes(learner.to_bytes(), "C's").state)
    n_features = statistics.sums.n_features
    sums: Any = [[0] * classes, [[0] * n_features for _ in range(classes)], statistics.sums.products.tolist()]
    for row, name in enumerate(statistics.names):
        sums[0][name], sums[1][name] = int(statistics.sums.counts[row]), statistics.sums.class_sums[row].tolist()
    return sums


@cases("add_pictures")
def test_pictures_are_added_and_taken_away(case, vectors):
    inputs = case["inputs"]
    learner = vectors.of(inputs["n_features"])
    pictures, labels = inputs["added"]
    learner.learn_features(np.array(pictures, np.int8), labels)
    for x, label in zip(*inputs["taken"], strict=True):
        learner.unlearn_features(np.array(x, np.int8), label)
    assert sums_of(learner, inputs["classes"]) == case["expected"]


@cases("forget_class")
def test_a_class_is_forgotten(case, vectors):
    sums, row = case["inputs"]["sums"], case["inputs"]["row"]
    learner = vectors.with_state(sums)
    learner.forget(row)
    counts, rows, products = sums_of(learner, len(sums[0]))
    del counts[row], rows[row]
    assert [counts, rows, products] == case["expected"]


@cases("merge_since")
def test_states_are_merged(case, vectors):
    ours, theirs, base = (case["inputs"][name] for name in ("ours", "theirs", "base"))
    learner = vectors.with_state(ours)
    learner.merge(vectors.state(theirs), vectors.state(base))
    assert sums_of(learner, len(ours[0])) == case["expected"]
    if not any(base[0]):
        plain = vectors.with_state(ours)
        plain.merge(vectors.state(theirs))
        assert plain.state_hash() == learner.state_hash()


@cases("fit")
def test_a_picture_is_fitted(case):
    picture = np.array(case["inputs"]["picture"], np.uint8)
    assert fitted(picture, case["inputs"]["side"]).tolist() == case["expected"]


class Sums:
    """As C's functions take them; arrays live as long as this."""

    def __init__(self, sums: Any, parts: list[int], lambdas: Any = None, shrinkage: Any = None) -> None:
        core = sums_library()
        assert core is not None
        self.core = core
        self.counts = np.array(sums[0], np.int64)
        pictures, stored = int(self.counts.sum()), width(int(self.counts.sum()))
        self.rows, self.products = (np.ascontiguousarray(part, stored) for part in sums[1:])
        self.classes, self.n_features = self.rows.shape
        places = (self.counts.ctypes.data, self.rows.ctypes.data, self.products.ctypes.data)
        self.info = br_sums(self.n_features, self.classes, 8 * stored.itemsize, *places)
        if lambdas is None:
            top, bottom = ctypes.c_int64(), ctypes.c_int64()
            own = (br_shrinkage(*(shrinkage or [])), pictures, self.n_features)
            check(core.br_sums_shrinkage(*own, ctypes.byref(top), ctypes.byref(bottom)))
            lambdas = [(top.value, bottom.value)] * len(parts)
        pairs = zip(parts, lambdas, strict=True)
        self.parts = (br_sums_part * len(parts))(*(br_sums_part(length, *pair) for length, pair in pairs))
        self.work = aligned_zeros(core.br_sums_solve_bytes(self.n_features, self.classes))
        self.weights = np.zeros((self.classes, self.n_features), np.int32)
        self.biases = np.zeros(self.classes, np.int64)
        self.solution = br_solution(self.weights.ctypes.data, self.biases.ctypes.data)

    def solve(self) -> None:
        words = (ctypes.byref(self.info), self.parts, len(self.parts), self.work.ctypes.data)
        check(self.core.br_sums_solve(*words, ctypes.byref(self.solution)))


@cases("discriminant_of")
def test_sums_are_solved(case):
    sums = Sums(**case["inputs"])
    sums.solve()
    solution = sums.solution
    result = [sums.weights.tolist(), sums.biases.tolist(), solution.exponent, solution.dropped_features]
    assert result == case["expected"]


@cases("scores")
def test_pictures_have_scores(case):
    weights, biases, x = (
        np.array(case["inputs"][name], kind)
        for name, kind in (("weights", np.int32), ("biases", np.int64), ("pictures", np.int8))
    )
    core = sums_library()
    assert core is not None
    classes, n_features = weights.shape
    scores = np.zeros((len(x), classes), np.int64)
    info = br_solution(weights.ctypes.data, biases.ctypes.data, n_features, classes)
    check(core.br_sums_scores(ctypes.byref(info), x.ctypes.data, len(x), scores.ctypes.data))
    assert scores.tolist() == case["expected"]


@cases("unseen_of")
def test_what_is_expected_of_other_pictures(case):
    inputs, pictures = case["inputs"], np.array(case["inputs"]["pictures"], np.int8)
    constants = inputs.get("shrinkage") or sums_functions.EXACT.terms
    sums = Sums(inputs["sums"], inputs["parts"], shrinkage=constants)
    core, places = sums.core, (ctypes.addressof(sums.info), ctypes.addressof(sums.parts), len(sums.parts))
    rule = br_discriminant(*places, keeps_factor=1, shrinkage=br_shrinkage(*constants))
    size = sums.n_features, sums.classes
    memory = aligned_zeros(core.br_discriminant_place(rule, *size, None))
    core.br_discriminant_place(rule, *size, memory.ctypes.data)
    work = aligned_zeros(core.br_discriminant_work_bytes(*size, len(sums.parts)))
    check(core.br_discriminant_solve(rule, work.ctypes.data))
    check(core.br_discriminant_expect(rule, work.ctypes.data))
    solution, factor, ood = rule.solution, rule.factor, rule.ood
    middle = np.frombuffer(memory, np.int32, sums.n_features, ood.weights - memory.ctypes.data)
    scores, is_ood = np.zeros((len(pictures), sums.classes), np.int64), []
    check(core.br_sums_scores(solution, pictures.ctypes.data, len(pictures), scores.ctypes.data))
    for x, best in zip(pictures, scores.max(axis=1), strict=True):
        away, score = np.zeros(sums.n_features, np.int16), ctypes.c_int64()
        given = (x.ctypes.data, int(best), away.ctypes.data, work.ctypes.data, ctypes.byref(score))
        check(core.br_sums_ood_score(solution, factor, ood, *given))
        is_ood.append(score.value)
    limit = core.br_ood_threshold(ood, share_of(inputs))
    figures = [ood.fitted, ood.ratio, ood.expected, ood.temperature, middle.tolist(), ood.bias]
    assert [*figures, is_ood, limit] == case["expected"]


def share_of(inputs: dict[str, Any]) -> int:
    """A share of 0 has the limit of 1 %, as any below it."""
    return as_share(Fraction(*inputs["share"])) if inputs["share"][0] else 1


@cases("unseen_of")
def test_a_picture_is_unknown_where_its_strangeness_is_above_the_limit(case, vectors):
    """Of the learner's own sums: one part, and such as pictures have."""
    inputs, (*_, is_ood, limit) = case["inputs"], case["expected"]
    if len(inputs["parts"]) > 1 or "no pictures" in case["name"]:
        pytest.skip("no learner has these sums")
    learner = vectors.with_state(inputs["sums"], inputs.get("shrinkage"))
    answers = learner.predict_features(np.array(inputs["pictures"], np.int8), share_of(inputs))
    assert [answer is None for answer in answers] == [value > limit for value in is_ood]
