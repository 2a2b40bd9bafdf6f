"""Copies of a learner, by deepcopy and pickle: equal, apart, checked, and free to go to another process."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from bitreplay import Learner, StateFileError
from bitreplay.strategies import STRATEGIES
from tests import tiny

FAST = {
    "learning_rate": 0.3,
    "memory_per_class": 4,
    "batch_size": 5,
    "replay_batch_size": 20,
    "epochs": 2,
    "min_steps": 1,
}
PROBE, _ = tiny.pictures(*tiny.COLOURS, each=3, seed=9)


def taught(model, **settings):
    learner = Learner.from_pretrained(model, **FAST | settings)
    learner.learn(*tiny.pictures("red", "green"))
    return learner


COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda learner: pickle.loads(pickle.dumps(learner))}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("way", COPIES)
def test_a_copy_is_equal_and_lives_its_own_life(tiny_model, way, strategy):
    learner = taught(tiny_model, strategy=strategy)
    before = learner.state_hash()
    other = COPIES[way](learner)
    assert other.state_hash() == before and other.settings == learner.settings
    assert np.array_equal(other.predict_proba(PROBE), learner.predict_proba(PROBE))
    other.learn(*tiny.pictures("blue", seed=1))
    assert learner.state_hash() == before and learner.labels == ["green", "red"]
    learner.learn(*tiny.pictures("blue", seed=1))
    assert learner.state_hash() == other.state_hash()


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_remembers_where_it_was_saved_and_that_something_was_forgotten(tiny_model, tmp_path, way):
    learner = taught(tiny_model)
    learner.save(tmp_path / "state")
    learner.forget("red")
    other = COPIES[way](learner)
    other.save(tmp_path / "state")
    assert Learner.rollback(tmp_path / "state", tiny_model).labels == ["green"], "the generation before is rewritten"
    with pytest.raises(StateFileError, match="changed by another process since"):
        learner.learn(*tiny.pictures("blue"))
        learner.save(tmp_path / "state")


def answer(learner, images):
    return learner.predict_proba(images), learner.state_hash()


def test_a_process_pool_may_be_handed_a_learner(tiny_model):
    learner = taught(tiny_model)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found, hashed = pool.submit(answer, learner, PROBE).result(timeout=120)
    assert np.array_equal(found, learner.predict_proba(PROBE)) and hashed == learner.state_hash()


def test_a_pickle_is_checked_like_a_file(tiny_model, tmp_path):
    model = tiny.model(tmp_path)
    make, (data, place, origin) = taught(model).__reduce__()
    with pytest.raises(StateFileError, match="truncated or damaged"):
        make(data[:-1] + bytes([data[-1] ^ 1]), place, origin)
    model.write_bytes(tiny.model(tmp_path, seed=1).read_bytes())
    with pytest.raises(StateFileError, match="belongs to the model tiny0 with checksum"):
        make(data, place, origin)
    model.unlink()
    with pytest.raises(StateFileError, match="not among those shipped"):
        make(data, place, origin)


def test_a_shipped_model_is_found_by_its_checksum_wherever_the_package_lies():
    learner = Learner.from_pretrained("bireal18", min_steps=1, epochs=1)
    learner.learn(*tiny.pictures("red", "green", each=1, side=32))
    make, (data, _, origin) = learner.__reduce__()
    assert make(data, "/nowhere/bireal18.safetensors", origin).state_hash() == learner.state_hash()


def test_a_learner_without_a_model_file_cannot_be_copied(tiny_model):
    bare = Learner(taught(tiny_model).strategy)
    for way in COPIES.values():
        with pytest.raises(ValueError, match="not made from a model file"):
            way(bare)


def test_a_learner_says_what_it_is(tiny_model):
    learner = taught(tiny_model)
    assert repr(learner) == (f"<Learner tiny0, replay: 2 classes, 16 pictures learned, {learner.state().bytes} bytes>")
    assert repr(taught(tiny_model, strategy="cwr")).startswith("<Learner tiny0, cwr: 2 classes, 16 pictures learned, ")
    assert repr(Learner(learner.strategy)).startswith("<Learner no model file, replay")


def test_a_state_goes_through_bytes(tmp_path):
    path = tiny.model(tmp_path)
    learner = Learner.from_pretrained(path)
    learner.learn(*tiny.pictures("red", "green"))
    predictor = learner.predictor
    learner.save(tmp_path / "a.state")
    assert learner.to_bytes() == (tmp_path / "a.state").read_bytes()
    again = Learner.from_bytes(learner.to_bytes(), path)
    assert again.state_hash() == learner.state_hash() and again.labels == ["green", "red"]
    learner.learn(*tiny.pictures("blue"))
    assert predictor.labels == ["green", "red"] and learner.predictor.labels == ["blue", "green", "red"]
    with pytest.raises(StateFileError, match="The state"):
        Learner.from_bytes(learner.to_bytes()[:-1], path)
