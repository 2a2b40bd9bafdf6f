"""The classes that a head lets take part are those that have a name; a file that says otherwise is refused."""

from __future__ import annotations

import numpy as np
import pytest

from bitreplay import Learner, StateFileError
from bitreplay.export import image_of
from bitreplay.statefile import to_bytes
from tests import tiny
from tests.core.c_learner import Failed
from tests.core.c_replay import CReplay
from tests.statefile.edited import with_arrays

POOL, COLOURS = tiny.pictures("red", "green", "blue", each=3, seed=3)
MASKS = {"one of them is left out": [0], "one more": [0, 1, 2, 9], "none": [], "all": list(range(16))}


def learner_of(model, strategy: str) -> Learner:
    learner = Learner.from_pretrained(model, strategy=strategy, epochs=1)
    learner.learn(POOL, COLOURS)
    return learner


def with_mask(data: bytes, active: list[int]) -> bytes:
    return with_arrays(data, tail__head__active=np.isin(np.arange(16), active).astype(np.uint8))


@pytest.mark.parametrize("strategy", ["replay", "cwr", "naive"])
@pytest.mark.parametrize("mask", MASKS)
def test_a_mask_that_does_not_fit_the_names_is_refused(tiny_model, strategy, mask):
    learner = learner_of(tiny_model, strategy)
    with pytest.raises(StateFileError, match="classes of its head do not fit its names"):
        Learner.from_bytes(with_mask(to_bytes(learner._content()), MASKS[mask]), tiny_model)
    same = Learner.from_bytes(with_mask(to_bytes(learner._content()), [0, 1, 2]), tiny_model)
    assert same.state_hash() == learner.state_hash() and np.allclose(same.predict_proba(POOL).sum(axis=1), 1)


@pytest.mark.parametrize("mask", MASKS)
def test_the_learner_in_c_refuses_the_same(tiny_model, mask):
    learner = learner_of(tiny_model, "replay")
    c = CReplay(image_of(learner, 32))
    good = to_bytes(learner._content())
    c.from_bytes(good)
    with pytest.raises(Failed, match="malformed"):
        c.from_bytes(with_mask(good, MASKS[mask]))
    assert c.state_hash() == learner.state_hash()


@pytest.mark.parametrize("strategy", ["replay", "cwr", "naive"])
def test_states_that_know_nothing_are_loaded(tiny_model, strategy):
    fresh = Learner.from_pretrained(tiny_model, strategy=strategy)
    assert Learner.from_bytes(to_bytes(fresh._content()), tiny_model).state_hash() == fresh.state_hash()
    learner = learner_of(tiny_model, strategy)
    for name in list(learner.labels):
        learner.forget(name)
    assert Learner.from_bytes(to_bytes(learner._content()), tiny_model).state_hash() == learner.state_hash()
