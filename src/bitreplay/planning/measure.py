"""One experience of a planned learner, and the bytes that it used, to check the plan.

Random pictures pass the frozen network; their latents, repeated, fill the memory. One epoch; accuracy means nothing.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bitreplay.learner import Learner
from bitreplay.lifecycle import assembly
from bitreplay.planning.plan import Plan
from bitreplay.strategies.requirements import FROZEN_BATCH
from bitreplay.zoo import Model


@dataclass(frozen=True)
class Measurement:
    """Bytes of each planned item, by (part, what); `file` is the size of the state file, with its header."""

    items: dict[tuple[str, str], int]
    state: int
    file: int
    picture_seconds: float
    step_seconds: float


def measure(model: Model, planned: Plan) -> Measurement:
    settings = planned.settings.changed(epochs=1, min_steps=1)
    learner = Learner(assembly.build(model, settings), model)
    strategy = learner.strategy
    images = np.random.default_rng(0).integers(0, 256, (FROZEN_BATCH, strategy.side, strategy.side, 3), dtype=np.uint8)
    strategy.encode(images)
    start = time.perf_counter()
    latents = strategy.encode(images)
    picture = (time.perf_counter() - start) / FROZEN_BATCH
    per_class = settings.memory_per_class if strategy.stores_samples else 1
    labels = np.repeat(np.arange(planned.classes), per_class)
    start = time.perf_counter()
    report = learner.learn_encoded(np.resize(latents, (len(labels), *latents.shape[1:])), labels)
    step = (time.perf_counter() - start) / report.steps if report.steps else 0.0
    learner.predict_encoded(latents)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state"
        learner.save(file)
        size = file.stat().st_size
    return Measurement(strategy.memory_items(), learner.state().bytes, size, picture, step)
