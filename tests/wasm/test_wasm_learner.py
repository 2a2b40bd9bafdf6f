"""The learner in JavaScript ends in the bytes of Python's state file, with its hash and its answers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import bitreplay
from bitreplay.data.groceries import groceries
from bitreplay.export.image import image_of
from bitreplay.lifecycle.merging import MergedTwice
from tests import tiny
from tests.core.test_c_unknown import around, features_to_classify
from tests.strategies.prior_companion import model_with_prior
from tests.wasm.engines import SETS, Engine, Node, chromium, needs_wasm

NAMES = ["Anjou", "Cantaloupe", "Birne süß", 7]


def life(tmp_path, model: str, size: int | None = None) -> tuple[list[bytes], bytes]:
    """The files of a life for tests/wasm/drive.js, and what must come of it."""
    data = groceries()
    images = np.concatenate([data.train_images[np.flatnonzero(data.train_labels == c)[:15]] for c in range(4)])
    learner, other = (bitreplay.Learner.from_pretrained(model, strategy="exact", size=size) for _ in range(2))
    names = [name for name in NAMES for _ in range(15)]
    turns: list[Any] = []

    def learn(who: bitreplay.Learner, chosen: range, what: str = "learn") -> None:
        who.learn(images[list(chosen)], [names[k] for k in chosen])
        if who is learner:
            turns.append([what, [[k, names[k]] for k in chosen]])

    learn(learner, range(0, 30))
    learn(learner, range(30, 60), "learnFeatures")
    learner.unlearn(images[[3]], [names[3]])
    turns.append(["unlearn", 3, names[3]])
    learner.forget("Cantaloupe")
    turns += [["forget", "Cantaloupe"], ["refuses", "forget", "Cantaloupe"], ["refuses", "unlearn", 3, "Cantaloupe"]]
    learner.rename("Anjou", "pear")
    turns += [["rename", "Anjou", "pear"], ["refuses", "rename", "pear", "pear\ud800"]]
    learn(other, range(15, 25))
    other.save(tmp_path / "other.state")
    learner.merge(other)
    turns += [["merge", 0], ["refuses", "load", 1]]
    learner.save(tmp_path / "right.state")
    again = bitreplay.Learner.load(tmp_path / "right.state")
    answers = bytes(again.labels.index(name) for name in again.predict(images).tolist())
    state = (tmp_path / "right.state").read_bytes()
    files = [image_of(learner), images.tobytes(), json.dumps({"side": 64, "turns": turns}).encode()]
    files += [(tmp_path / "other.state").read_bytes(), state[:-1]]
    return files, learner.state_hash().encode() + answers + state


def check(engine: Engine, where: str, tmp_path, model: str, record_property, size: int | None = None) -> None:
    files, right = life(tmp_path, model, size)
    for isa in SETS:
        record_property("path", f"{isa} in {where}")
        result = engine.call(isa, "learn", files)
        assert result[:64] == right[:64], f"another state on {isa}"
        assert result[64:124] == right[64:124], f"other answers on {isa}"
        assert result[124:] == right[124:], f"other bytes on {isa}"
    record_property("figure", f"{model}: 70 pictures learned in {where} end in {right[:16].decode()}")


@needs_wasm
@pytest.mark.parametrize(("model", "size"), [("react_tiny", None), ("react_tiny", 40), ("bireal18", None)])
def test_a_life_in_node_ends_in_pythons_bytes(model, size, tmp_path, record_property):
    check(Node(tmp_path), "Node", tmp_path, model, record_property, size)


@needs_wasm
def test_a_life_in_chromium_ends_in_pythons_bytes(tmp_path, record_property):
    with chromium() as engine:
        check(engine, "Chromium", tmp_path, "react_tiny", record_property)


@needs_wasm
def test_unknown_and_probabilities_are_pythons(tmp_path):
    learner = bitreplay.Learner.from_pretrained("react_tiny", strategy="exact", feature_layers="head", unknown="1/20")
    x, labels = around(400, 1, n_features=128)
    learner.learn_encoded(x, labels)
    learner.save(tmp_path / "x.state")
    pool, thousandths = features_to_classify(128), (1, 10, 50, 300)
    answers = [learner.predict_encoded(pool, unknown=share / 1000) for share in thousandths]
    answers.append(learner.predict_encoded(pool))
    refused = np.array([[name is None for name in row] for row in answers])
    assert 0 < refused.sum() < refused.size
    right = refused.tobytes() + (learner.predict_proba_encoded(pool) * 2**30).astype("<u4").tobytes()
    files = [image_of(learner), (tmp_path / "x.state").read_bytes(), pool.tobytes(), json.dumps(thousandths).encode()]
    for isa in SETS:
        assert Node(tmp_path).call(isa, "predictEncoded", files) == right, isa


@needs_wasm
def test_what_settings_keep_and_a_merge_since_a_base_are_pythons(tmp_path):
    images, labels = tiny.pictures(*tiny.COLOURS, each=6, seed=2)
    learner = bitreplay.Learner.from_pretrained(
        "react_tiny", strategy="exact", feature_layers="head", digests=True, exact_forget=True
    )
    model = image_of(learner)
    turns: list[Any] = []
    learner.learn(images[:8], labels[:8])
    turns.append(["learn", [[k, labels[k]] for k in range(8)]])
    learner.save(tmp_path / "base.state")
    base, device = (bitreplay.Learner.load(tmp_path / "base.state") for _ in range(2))
    device.learn(images[8:14], labels[8:14])
    device.save(tmp_path / "device.state")
    learner.learn(images[14:], labels[14:])
    turns.append(["learn", [[k, labels[k]] for k in range(14, len(images))]])
    learner.merge(device, base=base)
    with pytest.warns(MergedTwice):
        learner.merge(device)
    learner.merge(without=[device])
    turns += [
        ["merge", 1, 0],
        ["merge", 1],
        ["takeOut", 1],
        ["refuses", "merge", 0, 1],
        ["refuses", "unlearn", 0, labels[-1]],
    ]
    learner.unlearn(images[[9]], [labels[9]])
    learner.forget(labels[0])
    turns += [["unlearn", 9, labels[9]], ["forget", labels[0]]]
    learner.save(tmp_path / "right.state")
    answers = bytes(learner.labels.index(name) for name in learner.predict(images).tolist())
    steps = json.dumps({"side": images.shape[1], "turns": turns}).encode()
    states = [(tmp_path / f"{name}.state").read_bytes() for name in ("base", "device")]
    files = [model, images.tobytes(), steps, *states]
    right = learner.state_hash().encode() + answers + (tmp_path / "right.state").read_bytes()
    assert Node(tmp_path).call("wasm", "learn", files) == right


@needs_wasm
def test_a_prior_is_pythons(tmp_path):
    """Roots, components and a state that was merged and forgot; then answers and what is unknown."""
    learner, other = (
        bitreplay.Learner.from_pretrained(model_with_prior(tmp_path, default_components=9), unknown="1/10")
        for _ in range(2)
    )
    images, labels = tiny.pictures(*tiny.COLOURS, each=6, seed=2)
    model = image_of(learner)
    learner.learn(images[:16], labels[:16])
    other.learn(images[16:], labels[16:])
    other.save(tmp_path / "other.state")
    learner.merge(other)
    learner.unlearn(images[[9]], [labels[9]])
    learner.forget(labels[0])
    turns = [["learn", [[k, labels[k]] for k in range(16)]], ["merge", 0], ["unlearn", 9, labels[9]],
             ["forget", labels[0]]]  # fmt: skip
    learner.save(tmp_path / "right.state")
    steps = json.dumps({"side": images.shape[1], "turns": turns}).encode()
    state = (tmp_path / "right.state").read_bytes()
    answers = bytes(learner.labels.index(name) for name in learner.predict(images, unknown=0).tolist())
    right = learner.state_hash().encode() + answers + state
    pool, thousandths = np.random.default_rng(0).integers(-127, 128, (40, 9)).astype(np.int8), (10, 300)
    told = [[name is None for name in learner.predict_encoded(pool, unknown=share / 1000)] for share in thousandths]
    told.append([name is None for name in learner.predict_encoded(pool)])
    shares = np.array(told).tobytes() + (learner.predict_proba_encoded(pool) * 2**30).astype("<u4").tobytes()
    for isa in SETS:
        files = [model, images.tobytes(), steps, (tmp_path / "other.state").read_bytes()]
        assert Node(tmp_path).call(isa, "learn", files) == right, isa
        files = [model, state, pool.tobytes(), json.dumps(thousandths).encode()]
        assert Node(tmp_path).call(isa, "predictEncoded", files) == shares, isa
