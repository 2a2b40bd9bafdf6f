"""A learner at another input size than its model's own: one state everywhere, and none of another size."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from bitreplay import Learner, statefile
from bitreplay.data.pictures.picture import read
from bitreplay.engine.native import SlowMachine
from bitreplay.export import image_of
from bitreplay.lifecycle.merging import Total
from bitreplay.parts import backbone, feature_extractor, tail
from bitreplay.settings import Settings
from bitreplay.statefile import StateFileError
from tests import tiny
from tests.core.c_learner import CLearner, Failed
from tests.core.c_replay import CReplay

SIZE = 20
POOL, NAMES = tiny.pictures("red", "green", "blue", each=5, seed=2, side=30)


def taught(model, **settings) -> Learner:
    learner = Learner.from_pretrained(model, **settings)
    learner.learn(POOL, NAMES)
    return learner


def test_the_network_sees_squares_of_that_size(tiny_model):
    learner = taught(tiny_model, size=SIZE)
    assert learner.strategy.side == SIZE and learner.settings.size == SIZE
    assert learner.state_hash() != taught(tiny_model).state_hash()
    assert list(learner.predict(POOL)) == NAMES


def test_the_models_own_size_leaves_every_byte_as_it_was(tiny_model):
    plain, named = taught(tiny_model), taught(tiny_model, size=tiny.SIDE)
    assert named.to_bytes() == plain.to_bytes() and plain._content().size == tiny.SIDE
    assert image_of(named) == image_of(plain)


@pytest.mark.parametrize("strategy", ["exact", "replay"])
def test_native_and_reference_end_in_one_state(strategy, tiny_model, monkeypatch):
    native = taught(tiny_model, strategy=strategy, size=SIZE).state_hash()
    for module in (backbone, feature_extractor, tail):
        monkeypatch.setattr(module, "machine", SlowMachine)
    assert taught(tiny_model, strategy=strategy, size=SIZE).state_hash() == native


@pytest.mark.parametrize("strategy", ["exact", "replay"])
def test_states_name_the_size(strategy, tiny_model, tmp_path):
    learner = taught(tiny_model, strategy=strategy, size=SIZE)
    learner.save(tmp_path / "state")
    again = Learner.load(tmp_path / "state", tiny_model)
    assert again.strategy.side == SIZE and again.to_bytes() == learner.to_bytes()
    assert pickle.loads(pickle.dumps(learner)).strategy.side == SIZE
    again.learn(POOL, NAMES)
    learner.learn(POOL, NAMES)
    assert again.state_hash() == learner.state_hash()


def test_every_state_names_its_size_and_a_loaded_learner_has_the_settings_that_it_had(tiny_model):
    for learner in (taught(tiny_model), taught(tiny_model, size=SIZE)):
        content = statefile.from_bytes(learner.to_bytes(), "it")
        assert content.size == learner.strategy.side
        again = Learner.from_bytes(learner.to_bytes(), tiny_model)
        assert again.settings == learner.settings and again.to_bytes() == learner.to_bytes()
    with pytest.raises(StateFileError, match="size of its images is not known"):
        statefile.to_bytes(replace(content, size=None))


def test_states_of_two_sizes_are_not_merged(tiny_model):
    small, large, larger = taught(tiny_model), taught(tiny_model, size=SIZE), taught(tiny_model, size=24)
    before = large.state_hash()
    with pytest.raises(ValueError, match="learned at size 8, this learner at 20; they cannot be merged"):
        large.merge(small)
    total = Total()
    total.add(large._content(), "one")
    with pytest.raises(ValueError, match="other was learned at size 24, one at 20"):
        total.add(larger._content(), "other")
    assert large.state_hash() == before
    twin = Learner.from_pretrained(tiny_model, size=SIZE)
    twin.merge(large)
    assert twin.state_hash() == before


def test_sizes_that_a_network_cannot_have_are_refused(tiny_model):
    for size in (4, 18, 516, 10**4):
        with pytest.raises(ValueError, match="tiny0 can be used at size 8 to 512 in steps of 4, got"):
            Learner.from_pretrained(tiny_model, size=size)
    with pytest.raises(ValueError, match="vgg_small can be used at size 32 alone, got 64"):
        Learner.from_pretrained("vgg_small", size=64)
    for wrong in (0, "large", 1 << 20):
        with pytest.raises(ValueError, match="size must be an integer from 1 to 16384"):
            Settings.of(size=wrong)


def test_c_learns_the_same_at_that_size(tiny_model):
    python = Learner.from_pretrained(tiny_model, size=SIZE)
    c = CLearner(image_of(python), classes=4)
    python.learn(POOL, NAMES)
    c.learn(POOL, NAMES)
    assert c.to_bytes() == python.to_bytes() and c.state_hash() == python.state_hash()
    for other in (taught(tiny_model), taught(tiny_model, size=24)):
        with pytest.raises(Failed, match="other settings"):
            c.from_bytes(other.to_bytes())
    with pytest.raises(Failed, match="other settings"):
        CLearner(image_of(Learner.from_pretrained(tiny_model)), classes=4).from_bytes(python.to_bytes())


def test_c_replays_the_same_at_that_size(tiny_model):
    python = Learner.from_pretrained(tiny_model, strategy="replay", size=SIZE, memory_per_class=3)
    c = CReplay(image_of(python), classes=4, samples=len(POOL))
    python.learn(POOL, NAMES)
    c.learn(POOL, NAMES)
    assert c.to_bytes() == python.to_bytes()


def test_shipped_networks_learn_at_other_sizes():
    images = np.random.default_rng(0).integers(0, 256, (4, 70, 90, 3), dtype=np.uint8)
    for name, size in (("quicknet", 96), ("react_tiny", 40)):
        learner = Learner.from_pretrained(name, size=size)
        learner.learn(images, ["a", "a", "b", "b"])
        assert learner.strategy.side == size
        assert Learner.from_bytes(learner.to_bytes()).state_hash() == learner.state_hash()
    assert Learner.from_pretrained("react_tiny", size=40, n_components=16).settings.feature_layers == "head+add_11/4"


def test_large_photographs_are_decoded_for_the_size(tiny_model, tmp_path):
    """At 1/8, 375x300, for all squares up to 256; at 1/4 for one of 512."""
    photograph = np.random.default_rng(0).integers(0, 256, (300, 375, 3), np.uint8).repeat(8, 0).repeat(8, 1)
    path = tmp_path / "large.jpg"
    Image.fromarray(photograph).save(path)
    assert read(path, 256).shape == (300, 375, 3) and read(path, 512).shape == (600, 750, 3)
    for size in (256, 512):
        learner = Learner.from_pretrained(tiny_model, size=size)
        assert np.array_equal(learner.encode([path]), learner.encode(read(path, size)))
    assert not np.array_equal(learner.encode([path]), learner.encode(read(path, 256)))
