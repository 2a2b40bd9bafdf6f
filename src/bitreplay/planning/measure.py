"""One experience of a planned learner, and the bytes that it took: to check a plan against.

Random pictures pass the frozen network; their latents, repeated, fill the memory. One epoch; accuracy means nothing.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay import assembly
from bitreplay.engine import native_sums
from bitreplay.engine.footprint import Footprint
from bitreplay.learner import Learner
from bitreplay.parts.tail import Tail
from bitreplay.planning.plan import AT_ONCE, Plan
from bitreplay.strategies.exact import Exact
from bitreplay.strategies.gradient import Gradient
from bitreplay.zoo import Model


@dataclass(frozen=True)
class Taken:
    """Bytes of each planned item, by (part, what); `file` is the whole state file, with its header."""

    items: dict[tuple[str, str], int]
    state: int
    file: int
    picture_seconds: float
    step_seconds: float


def measure(model: Model, planned: Plan) -> Taken:
    settings = planned.settings.changed(epochs=1, min_steps=1)
    learner = Learner(assembly.build(model, settings), model)
    strategy: Any = learner.strategy
    images = np.random.default_rng(0).integers(0, 256, (AT_ONCE, strategy.side, strategy.side, 3), dtype=np.uint8)
    strategy.encode(images)
    start = time.perf_counter()
    latents = strategy.encode(images)
    picture = (time.perf_counter() - start) / AT_ONCE
    each = settings.memory_per_class if strategy.stores_samples else 1
    labels = np.repeat(np.arange(planned.classes), each)
    start = time.perf_counter()
    report = learner.learn_encoded(np.resize(latents, (len(labels), *latents.shape[1:])), labels)
    step = (time.perf_counter() - start) / report.steps if report.steps else 0.0
    learner.predict_encoded(latents)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state"
        learner.save(file)
        size = file.stat().st_size
    return Taken(_items(strategy), learner.state().bytes, size, picture, step)


def _items(strategy: Any) -> dict[tuple[str, str], int]:
    if isinstance(strategy, Gradient) and isinstance(strategy.tail, Tail) and strategy.kinds == Gradient.kinds:
        kept = strategy.memory.kept.values()
        one = 8 * int(np.prod(strategy.latent_shape))
        samples = f"{len(strategy.memory)} samples of {one} bytes"
        return {
            **_program("backbone", strategy.backbone.taken), **_program("tail", strategy.tail.taken),
            ("tail", "sums of a sample"): strategy.tail.parts_bytes,
            ("head", "consolidated weights and counts"): strategy.head.consolidated_weights.nbytes
            + strategy.head.past.nbytes,
            ("memory", samples): sum(r.latents.nbytes for r in kept),
            ("memory", "their numbers"): sum(r.origins.nbytes + r.ids.nbytes for r in kept),
        }  # fmt: skip
    if not isinstance(strategy, Exact):
        return {(strategy.name, what.replace("_", " ")): count for what, count in strategy.footprint().items()}
    sums, by_class = strategy.class_statistics.sums, strategy.class_statistics.state_dict().class_products
    rule, factor = native_sums.solved(sums, strategy.features.lengths)
    return {
        **_program("network", strategy.features.taken),
        ("sums", f"products of {sums.n_features} numbers"): sums.products.nbytes,
        ("sums", "of the classes, and their counts"): sums.class_sums.nbytes + sums.counts.nbytes,
        ("sums", "products of each class"): 0 if by_class is None else by_class.nbytes,
        ("answers", "the discriminant"): rule.weights.nbytes + rule.biases.nbytes,
        ("answers", "the factor of the covariance"): factor.nbytes,
    }


def _program(part: str, taken: Footprint) -> dict[tuple[str, str], int]:
    """`what learns` holds latent weights too."""
    return {
        (part, "tables, decoded"): taken.tables,
        (part, "weights in the kernels' order"): taken.packed_weights,
        (part, "what learns"): taken.parameters,
        (part, "arena"): taken.arena,
        (part, "scratch"): taken.scratch,
    }
