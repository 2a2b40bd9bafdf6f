"""The setting `micro_batch_size`: less memory, the same state; it is the machine's own, and states do not keep it."""

from typing import Any

import pytest

from bitreplay import Learner, Settings
from bitreplay.planning.plan import plan
from bitreplay.zoo import find
from tests import tiny

FEW: dict[str, Any] = {"batch_size": 6, "replay_batch_size": 9, "memory_per_class": 4, "min_steps": 6, "epochs": 1}


def taught(model, **settings) -> Learner:
    learner = Learner.from_pretrained(model, **FEW, **settings)
    for colours in (("red", "green"), ("blue",)):
        learner.learn(*tiny.pictures(*colours, each=7))
    return learner


@pytest.mark.parametrize("strategy", ["replay", "cwr", "naive"])
@pytest.mark.parametrize("micro_batch_size", [1, 4, 200])
def test_states_are_equal(tiny_model, tmp_path, strategy, micro_batch_size):
    one, other = (
        taught(tiny_model, strategy=strategy),
        taught(tiny_model, strategy=strategy, micro_batch_size=micro_batch_size),
    )
    assert one.state_hash() == other.state_hash() and one.settings == other.settings
    for name, learner in (("one", one), ("other", other)):
        learner.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    one.learn(*tiny.pictures("white", each=5))
    again = Learner.load(tmp_path / "one", tiny_model, micro_batch_size=micro_batch_size)
    again.learn(*tiny.pictures("white", each=5))
    assert again.settings.micro_batch_size == micro_batch_size and again.state_hash() == one.state_hash()


def test_more_classes_than_there_was_room_for(tiny_model):
    """The tail is made anew with as many samples at once."""
    names = [f"class {number}" for number in range(18)]
    pictures = tiny.pictures("red", each=18)[0]
    learners = [
        Learner.from_pretrained(tiny_model, **FEW, micro_batch_size=micro_batch_size) for micro_batch_size in (None, 3)
    ]
    for learner in learners:
        learner.learn(pictures, names)
    assert learners[0].state_hash() == learners[1].state_hash()
    arenas = [learner.strategy.footprint()["tail_another_arena"] for learner in learners]
    assert arenas[1] < arenas[0]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"micro_batch_size": 0}, "micro_batch_size must be an integer from 1 to 1048576, got 0"),
        ({"micro_batch_size": 1.5}, "micro_batch_size must be an integer"),
        (
            {"micro_batch_size": 8, "strategy": "exact"},
            "micro_batch_size must be None with exact and bits 8/1/16, got 8",
        ),
        ({"micro_batch_size": 8, "bits": "float"}, "micro_batch_size must be None with replay and bits float, got 8"),
    ],
)
def test_what_does_not_fit_is_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        Settings.of(**settings)


def test_weights_that_learn_have_no_parts(tiny_model):
    with pytest.raises(ValueError, match="micro-batches need frozen convolutions"):
        Learner.from_pretrained(tiny_model, micro_batch_size=4, bits="8/8/16")


def test_the_arena_is_that_of_a_part():
    """Of a minibatch of 160 with ReAct-18: at most a sixteenth."""
    arenas = []
    for micro_batch_size in (None, 8):
        made = plan(find("react18"), Settings.of(strategy="replay", micro_batch_size=micro_batch_size), 10)
        arenas.append(sum(item.bytes for item in made.items if (item.part, item.what) == ("tail", "arena")))
    assert 16 * arenas[1] <= arenas[0]
