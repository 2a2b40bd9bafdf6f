"""Unknown pictures, probabilities and expected confusions of learning by sums, on the shipped photographs."""

from __future__ import annotations

import tracemalloc
from functools import cache
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner
from bitreplay.data.groceries import groceries
from bitreplay.prediction.discriminant_predictor import FloatDiscriminant, IntegerDiscriminant
from tests import tiny

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)


@cache
def coded(model: str) -> tuple[np.ndarray, ...]:
    data, learner = groceries(), Learner.from_pretrained(model)
    codes = (learner.encode(images) for images in (data.train_images, data.test_images))
    return (*codes, data.train_labels, data.test_labels)


@cache
def taught(model: str, held: int | None = None) -> Learner:
    train, _, labels, _ = coded(model)
    learner = Learner.from_pretrained(model)
    known = np.ones(len(labels), bool) if held is None else labels != held
    learner.learn_encoded(train[known], labels[known])
    return learner


def refused(learner: Learner, codes: np.ndarray, share: float) -> np.ndarray:
    return np.array([answer is None for answer in learner.predict_encoded(codes, unknown=share)])


def noise(count: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (count, 64, 64, 3), np.uint8)


def test_pictures_of_nothing_are_refused_and_a_larger_share_refuses_more():
    learner = taught("react_tiny")
    _, test, _, _ = coded("react_tiny")
    known = [refused(learner, test, share) for share in SHARES]
    assert all((few <= many).all() for few, many in zip(known, known[1:], strict=False))
    assert known[1].mean() < 0.1 and known[-1].mean() > 0.2
    assert refused(learner, learner.encode(noise(20)), 0.05).all()
    assert not refused(learner, learner.encode(noise(2)), 0).any()
    answers, plain = learner.predict_encoded(test, unknown=0.05), learner.predict_encoded(test)
    assert all(answer in (None, other) for answer, other in zip(answers.tolist(), plain.tolist(), strict=True))


def test_the_rule_in_float64_answers_alike():
    """It has the trace itself: the limits differ by a few percent of a share, and hardly a picture lies between."""
    learner = taught("react_tiny")
    _, test, _, _ = coded("react_tiny")
    strategy: Any = learner.strategy
    whole, real = (
        rule(strategy.class_statistics.sums, strategy.features.lengths)
        for rule in (IntegerDiscriminant, FloatDiscriminant)
    )
    assert whole.temperature() == pytest.approx(real.temperature(), rel=0.01)
    floats = Learner.from_pretrained("react_tiny", strategy="exact", bits="float")
    floats.restore(learner.state())
    assert np.abs(floats.predict_proba_encoded(test) - learner.predict_proba_encoded(test)).max() < 0.01
    differ = refused(learner, test, 0.1) != refused(floats, test, 0.1)
    assert differ.mean() < 0.01


def test_what_is_unknown_is_a_function_of_the_sums(tiny_model):
    """Another order, a merge and an unlearned picture later: the same state, the same refusals and probabilities."""
    images, labels = tiny.pictures("red", "green", "blue", each=8, seed=1)
    probe = np.concatenate([tiny.pictures("red", "white", seed=5)[0], images])
    names = np.array(labels)

    def learner_of(*parts: np.ndarray) -> Learner:
        learner = Learner.from_pretrained(tiny_model, strategy="exact")
        for part in parts:
            learner.learn(images[part], names[part])
        return learner

    every = np.arange(len(names))
    whole, first, second = learner_of(every), learner_of(every[::2]), learner_of(every[1::2][::-1])
    first.merge(second)
    longer = learner_of(every[::-1])
    longer.learn(images[:1], ["white"])
    longer.unlearn(images[:1], ["white"])
    for other in (first, longer):
        assert other.state_hash() == whole.state_hash()
        for share in SHARES:
            assert other.predict(probe, unknown=share).tolist() == whole.predict(probe, unknown=share).tolist()
        assert np.array_equal(other.predict_proba(probe), whole.predict_proba(probe))


def test_a_setting_refuses_too(tiny_model):
    learner = Learner.from_pretrained(tiny_model, unknown=0.5)
    learner.learn(*tiny.pictures("red", "green", each=12))
    is_ood = np.random.default_rng(1).integers(0, 256, (6, 8, 8, 3), np.uint8)
    assert learner.settings.strategy == "exact"
    assert learner.predict(is_ood).tolist() == learner.predict(is_ood, unknown=0.5).tolist()
    assert None in learner.predict(is_ood).tolist() and None not in learner.predict(is_ood, unknown=0).tolist()


def test_one_class_and_one_picture_can_be_asked(tiny_model):
    learner = Learner.from_pretrained(tiny_model, strategy="exact")
    learner.learn(tiny.pictures("red", each=1)[0], ["red"])
    assert learner.predict_proba(tiny.pictures("red", each=1)[0]).tolist() == [[1.0]]
    assert set(learner.predict(tiny.pictures("red", "blue")[0], unknown=0.1).tolist()) <= {"red", None}
    assert learner.confusions() == []


# expected confusions


def test_expected_confusions_are_those_that_come():
    learner = taught("react_tiny")
    _, test, _, labels = coded("react_tiny")
    found = learner.confusions()
    assert len(found) == 14 * 13 // 2 and len({frozenset(pair[:2]) for pair in found}) == len(found)
    shares = [pair.share for pair in found]
    assert shares == sorted(shares, reverse=True) and 0 <= shares[-1] and shares[0] < 0.5
    table = learner.evaluate_encoded(test, labels).confusion[:, :14]
    numbers = [(int(pair.one), int(pair.other)) for pair in found]  # the labels are the rows' numbers here
    counted = [table[a, b] / table[a].sum() + table[b, a] / table[b].sum() for a, b in numbers]
    assert np.corrcoef(ranks(np.array(shares)), ranks(np.array(counted)))[0, 1] > 0.6
    assert np.mean(counted[:10]) > 5 * np.mean(counted[-45:])


def many_classes(model, classes):
    """A learner of so many classes, each of two random pictures."""
    learner = Learner.from_pretrained(model, strategy="exact")
    numbers = np.random.default_rng(classes).integers(-127, 128, (2 * classes, *learner.strategy.latent_shape))
    learner.learn_encoded(numbers.astype(np.int8), np.repeat(np.arange(classes), 2))
    return learner


def test_the_most_confused_of_many_classes_are_those_of_all(tiny_model, monkeypatch):
    """However few are compared at a time, against all pairs at once."""
    learner = many_classes(tiny_model, 60)
    all_pairs = learner.confusions(60 * 59 // 2)
    assert len(all_pairs) == 60 * 59 // 2 and learner.confusions() == all_pairs
    monkeypatch.setattr("bitreplay.prediction.confusions.COMPARED_AT_ONCE", 7 * 60)
    for most in (1, 2, 100, 1769, 1770, 5000):
        found = learner.confusions(most)
        assert [pair[:2] for pair in found] == [pair[:2] for pair in all_pairs[:most]]
        assert np.allclose([pair.share for pair in found], [pair.share for pair in all_pairs[:most]])
    for wrong in (0, -1, 1.5, True, "3"):
        with pytest.raises(ValueError, match="limit must be an integer from 1"):
            learner.confusions(wrong)


def test_confusions_of_many_classes_take_little_memory(tiny_model):
    """All pairs of 2,000 classes would be 2 million objects, 330 MB."""
    learner = many_classes(tiny_model, 2000)
    tracemalloc.start()
    try:
        assert len(learner.confusions()) == 10_000
        assert tracemalloc.get_traced_memory()[1] < 80_000_000
    finally:
        tracemalloc.stop()


def ranks(values: np.ndarray) -> np.ndarray:
    """Of equal values the mean of their places."""
    return np.array([(values < value).sum() + ((values == value).sum() - 1) / 2 for value in values])


def test_confusions_of_another_strategy_are_refused(tiny_model):
    learner = Learner.from_pretrained(tiny_model, strategy="replay", min_steps=1)
    with pytest.raises(ValueError, match="Only the strategy exact expects confusions, from its sums; got replay"):
        learner.confusions()
