"""200 steps of replay for every machine: the sixty photographs, a class at a time, in minibatches of three and six."""

from __future__ import annotations

from typing import Any

from bitreplay import Learner
from tests import tiny
from tests.hashes import sixty

# Five minibatches an epoch, ten epochs, four classes.
SETTINGS: dict[str, Any] = {
    "strategy": "replay",
    "new": 3,
    "replay_batch_size": 6,
    "memory_per_class": 10,
    "epochs": 10,
    "min_steps": 1,
}
STEPS = 200
EXAMPLE, DRIVEN = "replay", "replay"  # examples/*.c, tests/wasm/drive.js


def learner() -> Learner:
    return Learner.from_pretrained(sixty.MODEL, **SETTINGS)


def learned() -> Learner:
    """Class by class, as examples/replay.c does."""
    made, images = learner(), sixty.pictures()
    for start in range(0, len(images), sixty.EACH):
        made.learn(images[start : start + sixty.EACH], sixty.LABELS[start : start + sixty.EACH])
    assert tiny.inside(made).tail.steps == STEPS
    return made


if __name__ == "__main__":
    print(learned().state_hash())
