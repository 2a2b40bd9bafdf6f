"""A learner along a stream: the same as by hand, the test pictures coded once, a table that counting agrees with."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner
from bitreplay.data import Dataset
from bitreplay.evaluation.evaluation import Evaluation
from bitreplay.streams.follow import History, Step, follow
from bitreplay.streams.scenario import new_classes
from tests import tiny

TEST = tiny.pictures(*tiny.COLOURS, each=5, seed=9)
PAIRS = (("red", "green"), ("blue", "white"))


def learner_of(model) -> Learner:
    return Learner.from_pretrained(
        model, learning_rate=0.3, memory_per_class=4, batch_size=5, replay_batch_size=20, epochs=2, min_steps=1
    )


def stream() -> Iterator[tuple[Any, Any]]:
    for seed, pair in enumerate(PAIRS):
        yield tiny.pictures(*pair, each=6, seed=seed)


def test_a_stream_of_ones_own_gives_what_the_loop_by_hand_gives(tiny_model, monkeypatch):
    by_hand, expected = learner_of(tiny_model), []
    for images, labels in stream():
        by_hand.learn(images, labels)
        expected.append(by_hand.evaluate(*TEST))
    learner, coded = learner_of(tiny_model), []
    encode = learner.encode

    def spied(images, *watch):
        coded.append(len(images))
        return encode(images, *watch)

    monkeypatch.setattr(learner, "encode", spied)
    steps = list(follow(learner, stream(), *TEST))
    assert coded.count(len(TEST[0])) == 1
    assert learner.state_hash() == by_hand.state_hash()
    assert [step.number for step in steps] == [0, 1] and [step.classes for step in steps] == list(PAIRS)
    for step, evaluation in zip(steps, expected, strict=True):
        assert step.evaluation.per_class == evaluation.per_class and step.evaluation.accuracy == evaluation.accuracy
        np.testing.assert_array_equal(step.evaluation.confusion, evaluation.confusion)


def test_it_learns_one_experience_at_a_time_and_numbers_go_on(tiny_model):
    learner = learner_of(tiny_model)
    steps = follow(learner, stream(), *TEST)
    assert learner.experiences == 0
    next(steps)
    assert learner.experiences == 1 and sorted(learner.labels) == ["green", "red"]
    assert [step.number for step in follow(learner, [(tiny.pictures("blue")[0], "blue")], *TEST)] == [1]


def test_experiences_of_a_scenario_are_a_stream(tiny_model):
    images, names = tiny.pictures(*tiny.COLOURS, each=6)
    labels = np.repeat(np.arange(4), 6)
    data = Dataset(images, labels, images, labels, tuple(dict.fromkeys(names)))
    history = History(follow(learner_of(tiny_model), new_classes(data, [2, 2], 0), data.test_images, data.test_labels))
    assert sorted(name for step in history.steps for name in step.classes) == [0, 1, 2, 3]
    last = history.steps[-1].evaluation.per_class
    assert history.table[1].tolist() == [np.mean([last[name] for name in step.classes]) for step in history.steps]


def evaluation(**right: int) -> Evaluation:
    """So many of the four samples of each class are right; the others are called unknown."""
    answers: list[str | int | None] = [name if k < count else None for name, count in right.items() for k in range(4)]
    return Evaluation.of(answers, [name for name in right for _ in range(4)], list(right))


def test_the_table_is_the_mean_over_the_classes_of_each_experience():
    history = History([
        Step(0, ("a", "b"), evaluation(a=4, b=2, c=0)),
        Step(1, ("c",), evaluation(a=2, b=1, c=3)),
        Step(2, ("untested",), evaluation(a=1, b=1, c=2)),
    ])  # fmt: skip
    assert history.table.tolist() == [[0.75, 0.0, 0.0], [0.375, 0.75, 0.0], [0.25, 0.5, 0.0]]
    assert history.forgetting == (0.5 + 0.25) / 2 and history.backward_transfer == -(0.5 + 0.25) / 2
    assert history.incremental_accuracy == pytest.approx((6 / 12 + 6 / 12 + 4 / 12) / 3)
    assert History([]).table.shape == (0, 0) and History([]).forgetting == 0.0
    assert History([]).incremental_accuracy == 0.0


@pytest.mark.parametrize(
    ("given", "labels", "sentence"),
    [
        (None, TEST[1], "A stream must be an iterable of .images, labels., got NoneType"),
        ([3], TEST[1], "A stream must yield pairs .images, labels., got int"),
        ([TEST[0]], TEST[1], "A stream must yield pairs .images, labels., got ndarray"),
        ([(1, 2, 3)], TEST[1], "A stream must yield pairs .images, labels., got tuple"),
        (stream(), TEST[1][1:], "as many test labels as pictures, got 19 and 20"),
    ],
)
def test_what_is_no_stream_is_refused_before_anything_is_learned(tiny_model, given, labels, sentence):
    learner = learner_of(tiny_model)
    with pytest.raises(ValueError, match=sentence):
        next(follow(learner, given, TEST[0], labels))
    assert learner.experiences == 0
