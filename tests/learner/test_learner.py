"""The loop: what each step is given, what each strategy may change, and that the seed alone decides the result."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bitreplay import Learner
from bitreplay.engine import native
from bitreplay.parts import backbone, tail
from tests import tiny
from tests.engine.law import method

FAST: dict[str, Any] = {
    "learning_rate": 0.3,
    "memory_per_class": 4,
    "batch_size": 5,
    "replay_batch_size": 20,
    "epochs": 2,
    "min_steps": 1,
}
PAIRS = (("red", "green"), ("blue", "white"), ("red", "white"))


def learner_of(model, **settings: Any) -> Learner:
    return Learner.from_pretrained(model, **FAST | settings)


def experience(number: int) -> tuple[NDArray[np.uint8], list[str]]:
    return tiny.pictures(*PAIRS[number], each=6, seed=number)


def taught(model, experiences: int = 3, **settings: Any) -> Learner:
    learner = learner_of(model, **settings)
    for number in range(experiences):
        learner.learn(*experience(number))
    return learner


class Spy:
    """Records what the loop gives to the tail."""

    def __init__(self, learner: Learner, monkeypatch) -> None:
        self.steps: list[tuple[list, list]] = []
        self.heads: list[NDArray[np.int32]] = []
        step, load = tiny.inside(learner).tail.step, tiny.inside(learner).tail.load_head

        def spied_step(latents, labels, rate):
            self.steps.append((latents.tolist(), labels.tolist()))
            return step(latents, labels, rate)

        def spied_load(weights, active):
            self.heads.append(np.concatenate([weights, active[:, None]], axis=1))
            load(weights, active)

        monkeypatch.setattr(tiny.inside(learner).tail, "step", spied_step)
        monkeypatch.setattr(tiny.inside(learner).tail, "load_head", spied_load)


def test_every_step_is_given_what_the_law_says(tiny_model, monkeypatch):
    """Three experiences, two epochs: order of the new samples, replayed ones, proportions, the short last minibatch."""
    learner = learner_of(tiny_model, seed=9)
    spy, memory = Spy(learner, monkeypatch), method.Reservoir(4, 9)
    expected: list[tuple[list, list]] = []
    latents: list[list] = []
    feature_layers: list[int] = []
    names: dict[str, int] = {}
    for number in range(3):
        images, labels = experience(number)
        latents += learner.encode(images).tolist()
        for name in sorted(set(labels)):
            names.setdefault(name, len(names))
        now = [names[label] for label in labels]
        first, stored = len(feature_layers), memory.stored()
        feature_layers += now
        for epoch in range(2):
            for chosen in method.minibatches(len(now), 5, 9, number, epoch):
                picked = [first + i for i in chosen]
                if stored:
                    picked += [stored[at][1] for at in memory.sample(4 * len(chosen))]
                expected.append(([latents[i] for i in picked], [feature_layers[i] for i in picked]))
        memory.update(now)
        learner.learn(images, labels)
    assert spy.steps == expected
    assert [len(labels) for _, labels in spy.steps[:6]] == [5, 5, 2] * 2, "no replay in the first experience"
    assert [len(labels) for _, labels in spy.steps[6:9]] == [25, 25, 10]


def test_the_head_is_loaded_and_merged_as_cwr_says(tiny_model, monkeypatch):
    """Each experience starts from cw of the classes in new and stored data, and ends with the oracle's merge."""
    learner = learner_of(tiny_model)
    inside = tiny.inside(learner)
    spy, consolidate = Spy(learner, monkeypatch), inside.head.consolidate
    cw, past = inside.head.consolidated_weights.tolist(), inside.head.past.tolist()
    trained: list[list] = []

    def spied(temporary: NDArray[np.int32], present: NDArray[np.int64]) -> None:
        trained.append(temporary.tolist())
        consolidate(temporary, present)

    monkeypatch.setattr(inside.head, "consolidate", spied)
    for number in range(3):
        images, labels = experience(number)
        stored = inside.memory.labels.tolist()
        learner.learn(images, labels)
        everything = stored + [inside.classes.number(label) for label in labels]
        present = [everything.count(c) for c in range(len(past))]
        started, ended = spy.heads[-2:]
        assert started.tolist() == [
            [*(row if now else [0] * len(row)), now > 0] for row, now in zip(cw, present, strict=True)
        ]
        cw, past = method.consolidate(cw, trained[number], past, present)
        assert ended.tolist() == [[*row, seen > 0] for row, seen in zip(cw, past, strict=True)]
        assert inside.head.consolidated_weights.tolist() == cw and inside.head.past.tolist() == past


def learned_apart_from_the_head(learner: Learner) -> dict[str, NDArray]:
    tail = learner.state().parts["tail"].arrays
    return {name: values for name, values in tail.items() if not name.startswith("head.")}


def test_cwr_touches_the_head_alone_and_stores_nothing(tiny_model):
    learner = taught(tiny_model, strategy="cwr")
    inside = tiny.inside(learner)
    assert len(inside.memory) == 0
    assert learned_apart_from_the_head(learner) == {}, "nothing below the head can learn"
    assert {n: int(inside.head.past[inside.classes.number(n)]) for n in tiny.COLOURS} == {
        "red": 12, "green": 6, "blue": 6, "white": 12}  # fmt: skip
    other = tiny.inside(learner_of(tiny_model, strategy="cwr")).tail
    other.load_head(inside.tail.head_weights, inside.head.seen)
    latents = learner.encode(experience(0)[0])
    assert np.array_equal(other.answering()(latents), inside.tail.answering()(latents))


@pytest.mark.parametrize("strategy", ["replay", "naive"])
def test_the_tail_learns_below_the_head(tiny_model, strategy):
    before = learned_apart_from_the_head(learner_of(tiny_model, strategy=strategy))
    after = learned_apart_from_the_head(taught(tiny_model, strategy=strategy))
    assert before.keys() == after.keys() == {"add_1.gamma", "add_1.beta"}
    for name in before:
        assert not np.array_equal(before[name], after[name]), name


def test_naive_keeps_no_samples_and_does_not_consolidate(tiny_model, monkeypatch):
    learner = learner_of(tiny_model, strategy="naive")
    spy = Spy(learner, monkeypatch)
    for number in range(2):
        learner.learn(*experience(number))
    assert len(tiny.inside(learner).memory) == 0 and not tiny.inside(learner).head.consolidated_weights.any()
    assert all(len(labels) <= 5 for _, labels in spy.steps)
    first, second = spy.heads
    assert first[:, -1].sum() == 2 and second[:, -1].sum() == 4, "classes seen before stay active"
    assert not first[:, :-1].any() and second[:2, :-1].any(), "the second experience goes on with the trained weights"


@pytest.mark.parametrize(("pictures", "steps"), [(1, 7), (5, 7), (6, 8), (60, 24)])
def test_a_small_experience_gets_a_least_number_of_steps(tiny_model, pictures, steps):
    """Five a minibatch, two epochs, at least 7 steps: whole epochs are added."""
    learner = learner_of(tiny_model, min_steps=7)
    learner.learn(*tiny.pictures("red", each=pictures))
    assert tiny.inside(learner).tail.steps == steps


def test_what_is_stored_comes_from_pictures_without_augmentation(tiny_model):
    images, labels = experience(0)
    learner = learner_of(tiny_model, augment=True)
    learner.learn(images, labels)
    plain = {tuple(code.ravel().tolist()) for code in learner.encode(images)}
    assert {tuple(code.ravel().tolist()) for code in tiny.inside(learner).memory.latents} <= plain


def test_the_reference_ends_in_the_same_state(tiny_model, monkeypatch):
    expected = taught(tiny_model).state_hash()
    monkeypatch.setattr(tail, "machine", native.SlowMachine)
    monkeypatch.setattr(backbone, "machine", native.SlowMachine)
    slow = taught(tiny_model)
    assert slow.state_hash() == expected


CHILD = """
import sys
from tests.learner.test_learner import taught
print(taught(sys.argv[1], seed=int(sys.argv[2])).state_hash())
"""


def test_the_seed_decides_and_nothing_else(tiny_model):
    """Another process, another hash seed of Python, the plainest instruction set."""
    environment = os.environ | {"BITREPLAY_ISA": "scalar", "PYTHONHASHSEED": "12345"}
    found = [
        subprocess.run(
            [sys.executable, "-c", CHILD, str(tiny_model), seed],
            env=environment,
            text=True,
            check=True,
            capture_output=True,
        ).stdout.strip()
        for seed in ("0", "1")
    ]
    assert taught(tiny_model, seed=0).state_hash() == found[0]
    assert taught(tiny_model, seed=1).state_hash() == found[1] != found[0]
