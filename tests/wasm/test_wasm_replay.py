"""The learner by replay in JavaScript ends in the bytes of Python's state file, with its hash and its answers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import bitreplay
from bitreplay import statefile
from bitreplay.data.groceries import groceries
from bitreplay.export.image import image_of
from tests.wasm.engines import SETS, Engine, Node, chromium, needs_wasm

NAMES = ["Anjou", "Cantaloupe", "Birne süß", 7]
EACH = 5


def life(model: str, bits: str) -> tuple[list[bytes], bytes]:
    """The files of a life for tests/wasm/drive.js, and what must come of it."""
    data = groceries()
    images = np.concatenate([data.train_images[np.flatnonzero(data.train_labels == c)[:EACH]] for c in range(4)])
    names = [name for name in NAMES for _ in range(EACH)]
    learner = bitreplay.Learner.from_pretrained(
        model,
        strategy="replay",
        bits=bits,
        batch_size=4,
        replay_batch_size=8,
        memory_per_class=3,
        epochs=1,
        min_steps=3,
    )
    turns: list[Any] = []

    def learn(chosen: range, what: str = "learn") -> None:
        learner.learn(images[list(chosen)], [names[k] for k in chosen])
        turns.append([what, [[k, names[k]] for k in chosen]])

    learn(range(0, 10))
    turns.append(["stopEarly", [[0, "other"], [1, 3]]])
    half = statefile.to_bytes(learner._content())
    turns.append(["load", 0])
    learn(range(10, 20), "learnLatents")
    learner.forget("Cantaloupe")
    turns += [["forget", "Cantaloupe"], ["refuses", "forget", "Cantaloupe"], ["refuses", "load", 1]]
    learner.rename("Anjou", "pear")
    turns += [["rename", "Anjou", "pear"], ["refuses", "rename", "pear", "pear\ud800"]]
    learn(range(3, 8))
    answers = bytes(learner.labels.index(name) for name in learner.predict(images).tolist())
    state = statefile.to_bytes(learner._content())
    files = [image_of(learner), images.tobytes(), json.dumps({"side": 64, "turns": turns}).encode(), half, half[:-1]]
    return files, learner.state_hash().encode() + answers + state


def check(engine: Engine, where: str, model: str, bits: str, record_property) -> None:
    files, right = life(model, bits)
    end = 64 + 4 * EACH
    for isa in SETS:
        record_property("path", f"{isa} in {where}")
        result = engine.call(isa, "replay", files)
        assert result[:64] == right[:64], f"another state on {isa}"
        assert result[64:end] == right[64:end], f"other answers on {isa}"
        assert result[end:] == right[end:], f"other bytes on {isa}"
    record_property("figure", f"{model} {bits}: replay in {where} ends in {right[:16].decode()}")


@needs_wasm
@pytest.mark.parametrize(
    ("model", "bits"), [("react_tiny", "8/1/16"), ("react_tiny", "8/8/16"), ("bireal18", "8/1/16")]
)
def test_a_life_by_replay_in_node_ends_in_pythons_bytes(model, bits, tmp_path, record_property):
    check(Node(tmp_path), "Node", model, bits, record_property)


@needs_wasm
def test_a_life_by_replay_in_chromium_ends_in_pythons_bytes(record_property):
    with chromium() as engine:
        check(engine, "Chromium", "react_tiny", "8/1/16", record_property)
