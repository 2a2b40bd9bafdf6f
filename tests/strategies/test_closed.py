"""What was learned and not forgotten can be unlearned, whatever was learned, forgotten and merged: Python and C."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitreplay import Learner
from bitreplay.export import image_of
from bitreplay.parts.class_statistics import ClassStatisticsState
from bitreplay.statefile import to_bytes
from tests import tiny
from tests.core.c_learner import CLearner

NOISE = (np.random.default_rng(0).integers(0, 2, (60, 1, 1, 3), dtype=np.uint8) * 255).repeat(8, 1).repeat(8, 2)
PROBE, _ = tiny.pictures("red", "green", each=6, seed=1)


def learner_of(model, **changes) -> Learner:
    return Learner.from_pretrained(model, strategy="exact", feature_layers="add_0", **changes)


def extent(learner: Learner) -> tuple[int, int]:
    sums = learner.state().parts["sums"]
    assert isinstance(sums, ClassStatisticsState)
    return sums.sums.pictures, sums.sums.extent


@pytest.mark.parametrize("stay", [1, 2, 12])
def test_few_pictures_stay_beside_the_scatter_of_many(tiny_model, tmp_path, stay):
    """Sixty pictures that differ much are forgotten; each of those that stay can be taken back, then all is gone."""
    learner = learner_of(tiny_model)
    learner.learn(NOISE, "noise")
    learner.learn(PROBE[:stay], "few")
    learner.forget("noise")
    pictures, needed = extent(learner)
    assert pictures == stay and (needed > stay or stay > 2), "the scatter is what this is about"
    c = CLearner(image_of(learner))
    c.from_bytes(to_bytes(learner._content()))
    for number in range(stay):
        learner.save(tmp_path / "state", overwrite=True)
        learner = Learner.load(tmp_path / "state", tiny_model)
        assert set(learner.predict(PROBE)) == {"few"}
        learner.unlearn(PROBE[number : number + 1], "few")
        c.unlearn(PROBE[number : number + 1], ["few"])
        assert c.to_bytes() == to_bytes(learner._content())
    assert learner.state_hash() == learner_of(tiny_model).state_hash()


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_to_unlearn_after_a_class_was_forgotten_is_never_to_have_learned(tiny_model, data):
    """The same hash, whatever the order; also in states that were merged."""
    learner, other = learner_of(tiny_model), learner_of(tiny_model)
    count = data.draw(st.integers(1, 20))
    learner.learn(NOISE[:count], "noise")
    learner.learn(PROBE, ["a", "b"] * 6)
    other.learn(NOISE[:count], "noise")
    gone = data.draw(st.sets(st.integers(0, 11), max_size=11))
    stay = [number for number in range(12) if number not in gone]
    other.learn(PROBE[stay], [["a", "b"][number % 2] for number in stay])
    steps = data.draw(st.permutations([*gone, "forget", "merge"]))
    more = learner_of(tiny_model)
    more.learn(NOISE[20:25], "c")
    for step in steps:
        if step == "forget":
            learner.forget("noise")
        elif step == "merge":
            learner.merge(more)
        else:
            learner.unlearn(PROBE[step : step + 1], ["a", "b"][step % 2])
    other.merge(more)
    other.forget("noise")
    assert learner.state_hash() == other.state_hash()
