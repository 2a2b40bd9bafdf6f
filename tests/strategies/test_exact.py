"""Learning by sums: one state whatever the order, answers against a discriminant written down anew, forgetting."""

from __future__ import annotations

import multiprocessing
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bitreplay import Learner, LearningStopped
from bitreplay.engine.answers import ReferenceDiscriminant, logits
from bitreplay.engine.discriminant import scores
from bitreplay.engine.shrinkage import EXACT
from bitreplay.engine.sums import Sums
from bitreplay.engine.sums import add as add_sums
from bitreplay.learning.classes import in_order
from bitreplay.parts.class_statistics import ClassStatistics
from bitreplay.prediction.discriminant_predictor import FloatDiscriminant, IntegerDiscriminant
from bitreplay.strategies.exact import Exact
from tests import tiny
from tests.engine.sums.steps import factored

POOL, COLOURS = tiny.pictures(*tiny.COLOURS, each=6, seed=3)
PROBE, TRUTH = tiny.pictures(*tiny.COLOURS, each=5, seed=11)


def learner_of(model, **settings: Any) -> Learner:
    return Learner.from_pretrained(model, strategy="exact", **settings)


def taught(model, *colours: str, seed: int = 0, **settings: Any) -> Learner:
    learner = learner_of(model, **settings)
    learner.learn(*tiny.pictures(*colours, seed=seed))
    return learner


def tally_of(learner: Learner) -> ClassStatistics:
    assert isinstance(learner.strategy, Exact)
    return learner.strategy.class_statistics


# one state, however it came

NAMES = ["b", "a", 10, 9, "10"]


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_order_and_any_grouping_end_in_one_hash(tiny_model, data):
    """Also with saves, loads, copies of states and renamings between."""
    labels = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=len(POOL)))
    whole = learner_of(tiny_model)
    whole.learn(POOL[: len(labels)], labels)
    order = data.draw(st.permutations(range(len(labels))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(labels)), max_size=4)))
    other = learner_of(tiny_model)
    for part in np.split(np.array(order), cuts):
        if len(part):
            other.learn(POOL[part], [labels[number] for number in part])
            between = data.draw(st.sampled_from(["nothing", "restore", "rename", "codes"]))
            if between == "restore":
                state, other = other.state(), learner_of(tiny_model)
                other.restore(state)
            elif between == "rename":
                first = other.labels[0]
                other.rename(first, "zz")
                other.rename("zz", first)
    assert other.state_hash() == whole.state_hash()
    assert other.labels == whole.labels == list(in_order(labels))
    assert np.array_equal(other.predict_proba(PROBE), whole.predict_proba(PROBE))


def test_names_stand_in_order_and_the_first_of_equals_answers(tiny_model):
    learner = learner_of(tiny_model)
    learner.learn(POOL[:1].repeat(4, axis=0), ["b", 10, "a", 9])
    assert learner.labels == [9, 10, "a", "b"]
    assert learner.predict(PROBE).tolist() == [9] * len(PROBE)


def learn_and_save(model, numbers, path) -> None:
    learner = learner_of(model)
    learner.learn(POOL[numbers], [COLOURS[number] for number in numbers])
    learner.save(path)


def test_processes_and_threads_end_in_the_same_state(tiny_model, tmp_path, monkeypatch):
    hashes = set()
    for number, threads in enumerate(("1", "3")):
        monkeypatch.setenv("BITREPLAY_THREADS", threads)
        path = tmp_path / str(number)
        order = np.random.default_rng(number).permutation(len(POOL))
        child = multiprocessing.get_context("spawn").Process(target=learn_and_save, args=(tiny_model, order, path))
        child.start()
        child.join()
        hashes.add(Learner.load(path, tiny_model).state_hash())
    whole = learner_of(tiny_model)
    whole.learn(POOL, COLOURS)
    assert hashes == {whole.state_hash()}


def test_the_hash_sees_pictures_and_names_and_not_how_they_came(tiny_model):
    one, other = taught(tiny_model, "red", "green"), taught(tiny_model, "red", "green")
    assert one.state_hash() == other.state_hash()
    other.learn(*tiny.pictures("red", each=1, seed=8))
    assert one.state_hash() != other.state_hash() and (one.experiences, other.experiences) == (1, 2)
    other.restore(one.state())
    other.rename("red", "crimson")
    assert one.state_hash() != other.state_hash()


# answers


def discriminant(x: NDArray, labels: list, lengths: list[int], probe: NDArray) -> NDArray[np.float64]:
    """Scores from the pictures themselves: deviations from class means, not sums of products."""
    names = in_order(labels)
    own = [x[[label == name for label in labels]].astype(np.float64) for name in names]
    means = np.array([mine.mean(axis=0) for mine in own])
    deviations = np.concatenate([mine - mine.mean(axis=0) for mine in own])
    covariance = deviations.T @ deviations / len(x)
    shrink = min(1.0, sum(lengths) / (4 * len(x)))
    ridge = [
        np.full(k, covariance.diagonal()[e - k : e].mean()) for k, e in zip(lengths, np.cumsum(lengths), strict=True)
    ]
    inverse = np.linalg.inv(covariance + shrink * np.diag(np.concatenate(ridge)))
    middle, counts = np.rint(x.mean(axis=0)), np.array([len(mine) for mine in own])[:, None]
    means = (8 * middle + counts * means) / (8 + counts)
    return probe @ inverse @ means.T - 0.5 * np.einsum("ci,ij,cj->c", means, inverse, means)


@pytest.mark.parametrize("bits", ["8/1/16", "16/1/16", "float"])
def test_answers_are_those_of_the_discriminant(tiny_model, bits):
    learner = learner_of(tiny_model, bits=bits)
    noise = np.random.default_rng(0).integers(0, 256, (300, 8, 8, 3), dtype=np.uint8)
    images, labels = np.concatenate([POOL, noise]), [*COLOURS, *np.resize(["red", "noise", "blue"], 300).tolist()]
    learner.learn(images, labels)
    assert isinstance(learner.strategy, Exact)
    probe = np.concatenate([PROBE, np.random.default_rng(1).integers(0, 256, (200, 8, 8, 3), dtype=np.uint8)])
    numbers = learner.encode(images)
    scores = discriminant(numbers, labels, learner.strategy.features.lengths, learner.encode(probe).astype(float))
    wanted = np.array(in_order(labels))[scores.argmax(axis=1)]
    assert len(set(wanted)) == 5 and np.array_equal(learner.predict(probe), wanted)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    assert np.abs(learner.predict_proba(probe) - powers / powers.sum(axis=1, keepdims=True)).max() < 1e-4


def test_one_picture_a_class_is_the_nearest_shrunk_mean(tiny_model):
    learner = learner_of(tiny_model)
    learner.learn(POOL[::6], COLOURS[::6])
    seen, probe = (learner.encode(images).astype(int) for images in (POOL[::6], PROBE))
    means = (8 * np.rint(seen.mean(axis=0)) + seen) / 9
    near = ((probe[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert learner.predict(PROBE).tolist() == [COLOURS[::6][number] for number in near]


def test_one_class_answers_always(tiny_model):
    learner = taught(tiny_model, "red")
    assert set(learner.predict(PROBE)) == {"red"} and (learner.predict_proba(PROBE) == 1).all()


@pytest.mark.parametrize(("pictures", "numbers"), [(1, 1), (40, 3), (2000, 5), (100_000, 2)])
def test_probabilities_of_whole_numbers_and_of_float64_agree(pictures, numbers):
    rng = np.random.default_rng(pictures)
    labels = rng.integers(0, 3, pictures)
    x = np.clip(rng.normal(20 * labels[:, None], 30, (pictures, numbers)), -127, 127).astype(np.int8)
    kept = np.flatnonzero(np.bincount(labels, minlength=3))
    sums = Sums.empty(numbers, len(kept))
    add_sums(sums, x, np.searchsorted(kept, labels).astype(np.int32))
    probe = rng.integers(-127, 128, (50, numbers)).astype(np.int8)
    rule = ReferenceDiscriminant(sums, [numbers])
    found = logits(rule.solution, scores(rule.solution, probe), rule.temperature)
    real = np.maximum(FloatDiscriminant(sums, [numbers]).logits(probe), -32)
    assert (found <= 0).all() and np.abs(found / 2**16 - real).max() < 1e-3
    assert np.array_equal(rule.probabilities(probe), IntegerDiscriminant(sums, [numbers]).probabilities(probe))


def test_lambda():
    assert [EXACT(n, 100, 3, 50) for n in (1, 25, 50, 25_600, 10**9)] == [
        (1, 1),
        (1, 1),
        (1, 2),
        (1, 1024),
        (1, 1024),
    ]


def test_the_discriminant_is_made_once_after_a_change_and_only_when_asked(tiny_model, monkeypatch):
    made = []
    solve = IntegerDiscriminant.__init__

    def counting(self, *arguments):
        made.append(self)
        solve(self, *arguments)

    monkeypatch.setattr(IntegerDiscriminant, "__init__", counting)
    learner = taught(tiny_model, "red", "green")
    learner.learn(*tiny.pictures("blue"))
    assert not made
    learner.predict(PROBE)
    learner.predict_proba(PROBE)
    assert len(made) == 1
    learner.learn(*tiny.pictures("white"))
    learner.predict(PROBE)
    assert len(made) == 2


def test_while_it_learns_it_answers_as_before(tiny_model):
    learner = taught(tiny_model, "red", "green")
    before, during = learner.predict_proba(PROBE), []
    learner.learn(*tiny.pictures("blue", each=40), progress=lambda _: during.append(learner.predict_proba(PROBE)))
    assert during and all(np.array_equal(found, before) for found in during)
    assert "blue" in learner.predict(PROBE)


@pytest.mark.parametrize(("count", "parts"), [(20, 10), (7, 7), (1, 1), (700, 22)])
def test_a_bar_moves_however_few_pictures_there_are(tiny_model, count, parts):
    learner = Learner.from_pretrained(tiny_model)
    seen: list[Any] = []
    learner.learn(np.zeros((count, tiny.SIDE, tiny.SIDE, 3), np.uint8), "dark", progress=seen.append)
    done = [progress.done for progress in seen]
    assert done == sorted(set(done)) and len(done) == parts and done[-1] == count


# changes that fail, and classes that go


def test_what_was_stopped_was_not_learned(tiny_model):
    learner = taught(tiny_model, "red", "green")
    before = learner.state_hash()
    calls = iter([False, True])
    with pytest.raises(LearningStopped):
        learner.learn(*tiny.pictures("blue", "green", each=40), cancel=lambda: next(calls))
    assert learner.state_hash() == learner.strategy.state().hash() == before and learner.labels == ["green", "red"]


def test_a_forgotten_class_leaves_its_scatter_and_nothing_else(tiny_model):
    learner = taught(tiny_model, "red", "green", "blue")
    before = tally_of(learner).sums.copy()
    learner.forget("green")
    after = tally_of(learner)
    s, n = [int(value) for value in before.class_sums[1]], int(before.counts[1])
    outer = [Fraction(s[i] * s[j], n) for i in range(len(s)) for j in range(i + 1)]
    gone = (before.products - after.sums.products).tolist()
    assert all(abs(number - exact) <= Fraction(1, 2) for number, exact in zip(gone, outer, strict=True))
    assert np.array_equal(after.sums.class_sums, before.class_sums[[0, 2]])
    assert learner.labels == ["blue", "red"] and after.forgotten == 1
    assert "green" not in learner.predict(PROBE)
    with pytest.raises(ValueError, match="no class 'green'"):
        learner.forget("green")


def test_what_a_forgotten_class_leaves_is_bounded_by_the_pictures_that_stay(tiny_model):
    """One picture stays of forty that differ much: the sums are still sums that can be saved, loaded and asked."""
    learner = learner_of(tiny_model, feature_layers="add_0")
    noise = np.random.default_rng(0).integers(0, 2, (40, 1, 1, 3), dtype=np.uint8) * 255
    learner.learn(noise.repeat(8, axis=1).repeat(8, axis=2), ["noise"] * 40)
    learner.learn(PROBE[:1], "one")
    learner.forget("noise")
    tally_of(learner).sums.check()
    assert set(learner.predict(PROBE)) == {"one"}


def test_with_the_last_class_nothing_stays(tiny_model):
    learner = taught(tiny_model, "red", "green")
    learner.forget("red")
    learner.forget("green")
    assert learner.state_hash() == learner_of(tiny_model).state_hash() and learner.labels == []
    with pytest.raises(ValueError, match="Nothing has been learned"):
        learner.predict(PROBE)


def test_a_renamed_class_takes_its_place_in_the_order(tiny_model):
    learner = taught(tiny_model, "red", "green", "blue")
    before = learner.predict_proba(PROBE)
    learner.rename("blue", "zinc")
    assert learner.labels == ["green", "red", "zinc"]
    assert np.array_equal(learner.predict_proba(PROBE), before[:, [1, 2, 0]])
    learner.rename("zinc", "zinc")
    with pytest.raises(ValueError, match="already"):
        learner.rename("zinc", "red")
    assert learner.labels == ["green", "red", "zinc"]


# settings and files


def test_a_saved_state_keeps_the_numbers_that_it_was_begun_with(tiny_model, tmp_path):
    learner = taught(tiny_model, "red", "green")
    assert learner.settings.feature_layers == "head+add_0/4"
    learner.save(tmp_path / "state")
    loaded = Learner.load(tmp_path / "state", tiny_model)
    assert loaded.settings == learner.settings and loaded.state_hash() == learner.state_hash()
    assert loaded.experiences == 1 and np.array_equal(loaded.predict_proba(PROBE), learner.predict_proba(PROBE))
    learner.learn(*tiny.pictures("blue"))
    learner.save(tmp_path / "state")
    assert Learner.rollback(tmp_path / "state", tiny_model).state_hash() == loaded.state_hash()


@pytest.mark.parametrize("feature_layers", ["head", "add_0", "add_0/4+sign", "add_1/4+head"])
def test_feature_layers_can_be_chosen(tiny_model, feature_layers):
    learner = learner_of(tiny_model, feature_layers=feature_layers)
    learner.learn(POOL, COLOURS)
    assert learner.settings.feature_layers == feature_layers and learner.evaluate(PROBE, TRUTH).accuracy > 0.8


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"feature_layers": "add_7"},
            "cannot be used with bits 8/1/16, feature layers add_7: the network has no layer 'add_7'",
        ),
        ({"feature_layers": 7.5}, "feature_layers must be text of at most 400 characters, got 7.5"),
        ({"augment": True}, "augment must be False with exact"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tiny_model, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        learner_of(tiny_model, **changes)


def test_bytes_are_counted(tiny_model):
    learner = taught(tiny_model, "red", "green")
    numbers, bytes_of = len(learner.encode(PROBE)[0]), learner.strategy.footprint()
    assert bytes_of["products"] == 4 * numbers * (numbers + 1) // 2
    assert bytes_of["class_sums"] == 2 * (4 * numbers + 8) == bytes_of["discriminant"]
    factor = factored(tally_of(learner).sums, [numbers])
    assert bytes_of["factor"] == factor.rows.nbytes + factor.halves.nbytes + factor.centre.nbytes
    assert learner.memory_bytes == bytes_of["products"] + bytes_of["class_sums"] == learner.state().bytes
