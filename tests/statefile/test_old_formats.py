"""Files of formats 1 and 2 are the states that they were, in Python and in C, whatever their settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner, StateFileError, statefile
from bitreplay.export import image_of
from bitreplay.lifecycle.merging import Total
from bitreplay.statefile import hash_of_format_2
from bitreplay.statefile.old import old_settings
from tests import tiny
from tests.core.c_learner import CLearner, Failed
from tests.core.c_replay import CReplay
from tests.statefile.old_writer import old_bytes

POOL, COLOURS = tiny.pictures("red", "green", "blue", each=4, seed=3)
NAMES = {"red": 7, "green": "grün", "blue": 'a "b" \\ \n \u2028 \U0001f34e'}
SETTINGS: dict[str, dict[str, Any]] = {
    "exact": {"strategy": "exact"},
    "exact of one layer": {"strategy": "exact", "feature_layers": "head"},
    "exact with digests": {"strategy": "exact", "digests": True, "exact_forget": True},
    "exact with unknown": {"strategy": "exact", "unknown": "1/20", "seed": (1 << 64) - 1},
    "replay": {"strategy": "replay", "epochs": 1, "min_steps": 2, "memory_per_class": 3},
    "replay with a rate": {"strategy": "replay", "epochs": 1, "learning_rate": "3/10", "bits": "8/4/16"},
}


def learner_of(model, given: dict[str, Any]) -> Learner:
    learner = Learner.from_pretrained(model, **given)
    learner.learn(POOL, [NAMES[colour] for colour in COLOURS])
    learner.learn(POOL[:2], [NAMES[colour] for colour in COLOURS[:2]])
    learner.forget(7)
    return learner


def in_c(learner: Learner) -> Any:
    kind = CLearner if learner.settings.strategy == "exact" else CReplay
    return kind(image_of(learner))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("given", SETTINGS)
def test_it_is_the_state_that_it_was(tiny_model, given, version):
    learner = learner_of(tiny_model, SETTINGS[given])
    new, old = learner.to_bytes(), old_bytes(learner._content(), tiny.SIDE, version)
    loaded = Learner.from_bytes(old, tiny_model)
    assert loaded.to_bytes() == new and loaded.state_hash() == learner.state_hash()
    assert hash_of_format_2(loaded.state()) == hash_of_format_2(learner.state()) != learner.state_hash()
    c = in_c(learner)
    c.from_bytes(old)
    assert c.to_bytes() == new and c.state_hash() == learner.state_hash()


@pytest.mark.parametrize("given", ["exact", "exact with digests"])
@pytest.mark.filterwarnings("ignore::bitreplay.lifecycle.merging.MergedTwice")
def test_old_and_new_files_merge(tiny_model, given):
    one = learner_of(tiny_model, SETTINGS[given])
    other = Learner.from_bytes(one.to_bytes(), tiny_model)
    other.learn(POOL[5:9], "more")
    c = in_c(one)
    c.from_bytes(one.to_bytes())
    both = [replace(statefile.from_bytes(old_bytes(each._content(), tiny.SIDE), "it"), size=tiny.SIDE)
            for each in (one, other)]  # fmt: skip
    c.merge(old_bytes(other._content(), tiny.SIDE))
    total = Total()
    for content in both:
        total.add(content, "it")
    assert statefile.to_bytes(total.content()) == c.to_bytes()
    c.from_bytes(old_bytes(one._content(), tiny.SIDE))
    c.merge(old_bytes(other._content(), tiny.SIDE), old_bytes(one._content(), tiny.SIDE))
    assert c.state_hash() == other.state_hash()


def test_the_size_that_is_not_named_is_the_model_s_own(tiny_model):
    learner = Learner.from_pretrained(tiny_model, strategy="exact", size=16)
    learner.learn(POOL, COLOURS)
    old = old_bytes(learner._content(), tiny.SIDE)
    assert Learner.from_bytes(old, tiny_model).to_bytes() == learner.to_bytes()
    own = Learner.from_pretrained(tiny_model, strategy="exact")
    own.learn(POOL, COLOURS)
    for one, other in ((learner, own), (own, learner)):
        c = in_c(one)
        c.from_bytes(old_bytes(one._content(), tiny.SIDE))
        assert c.to_bytes() == one.to_bytes()
        for data in (old_bytes(other._content(), tiny.SIDE), other.to_bytes()):
            with pytest.raises(Failed, match="other settings"):
                c.from_bytes(data)
    unnamed = statefile.from_bytes(old_bytes(own._content(), tiny.SIDE), "it")
    assert unnamed.size is None
    with pytest.raises(StateFileError, match="does not name the size of its images"):
        Total().add(unnamed, "it")


def test_names_of_settings_are_those_of_then():
    assert old_settings.settings_of({"numbers": "128 of head+add_1"}).feature_layers == "head+add_1"
    assert old_settings.settings_of({"numbers": "128"}).feature_layers is None
    for name in ("n_components", "batch_size", "min_steps"):
        with pytest.raises(ValueError, match="no setting"):
            old_settings.settings_of({name: 3})


def test_a_cut_or_changed_old_file_is_refused(tiny_model):
    learner = learner_of(tiny_model, SETTINGS["exact"])
    good, c = old_bytes(learner._content(), tiny.SIDE), in_c(learner)
    for at in np.random.default_rng(0).integers(0, len(good), 40):
        for wrong in (good[:at], good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :]):
            with pytest.raises(StateFileError):
                statefile.from_bytes(wrong, "it")
            with pytest.raises(Failed):
                c.from_bytes(wrong)
