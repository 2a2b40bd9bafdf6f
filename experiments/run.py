"""One run: everything that decides its numbers in, one row out.

    row(Run(model="react18", seed=0), Path("runs/codes"))  ->  {"final": 74.2, "after": [...], ...}

A learner follows a stream of experiences and is tested on the whole test set after each. Without `augment` the
latents of all pictures are computed once and cached in a folder, which several processes share.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from controls import CONTROLS, latent_start
from networks import published
from rows import row_hash
from sign_flips import sign_flips
from sources import stream

from bitreplay import zoo
from bitreplay.engine import native
from bitreplay.engine.layers.latent_weights import load_latent
from bitreplay.engine.method import MAX_WITH_FLIPS
from bitreplay.evaluation import metrics
from bitreplay.learner import Learner
from bitreplay.learning.samples import Latents
from bitreplay.lifecycle import assembly
from bitreplay.settings import Settings
from bitreplay.strategies import STRATEGIES
from bitreplay.streams.follow import Step, follow


@dataclass(frozen=True)
class Run:
    """data         cifar10, cifar100 or sessions (a stand-in for CORe50, see sources.py)
    images       training pictures a class, the first ones; None is all
    augment      crop and flip new pictures in each epoch; else codes are computed once
    strategy     one of the library's, a control (controls.py), or joint: everything in one experience
    scenario     nc or ni
    gain         of the learning rate (bitreplay.learning.rates); None is the strategy's own
    latent_gain  powers of two by which latent weights move faster
    latent_start equal, spread, magnitude or trained distances from the other sign (controls.py)
    binary       "flips": binary weights learn without latents, at q_b^bin 4 (sign_flips.py); in floating point
                 "latents" or "flips" (float_latents.py)
    order        seed of the order of classes, as PyCIL shuffles; None draws it from `seed`
    gradients    float only: activation gradients rounded, "tensor-8" or "sample-8" (rounded_gradients.py)
    tested       test pictures a class, the first ones; None is all
    held         test on pictures held out of the training set, to choose by
    """

    data: str = "cifar10"
    model: str = "react18"
    strategy: str = "replay"
    scenario: str = "nc"
    images: int | None = 500
    augment: bool = False
    replay_layer: str | None = None
    latent_bits: int = 1
    bits: str = "8/1/16"
    memory_per_class: int = 30
    epochs: int = 5
    min_steps: int = 40
    gain: str | None = None
    latent_gain: int = 0
    latent_start: str = "equal"
    binary: str | None = None
    order: int | None = None
    gradients: str | None = None
    tested: int | None = None
    held: bool = False
    seed: int = 0

    def changed(self, **fields: Any) -> Run:
        return dataclasses.replace(self, **fields)


def row(run: Run, cache_folder: Path, device: str = "cpu") -> dict[str, Any]:
    """Learn and test; what came out, with all that a reader needs to do it again."""
    model = zoo.find(published(run.model))
    start = time.process_time()
    with latent_start(run.latent_start, run.latent_gain):
        learner = Learner(_strategy(run, model, device), model)
        before = _signs(learner, run.bits)
        source = stream(run, learner, cache_folder)
        steps = list(follow(learner, source.experiences(), Latents(source.test), source.truth))
        now = _signs(learner, run.bits)
    after = [_percent(step.evaluation.accuracy) for step in steps]
    config = dataclasses.asdict(run)
    seed = config.pop("seed")
    result = {
        "weights": weights(model), "digest": model.digest[:12],
        "commit": commit(), "machine": machine(), "isa": native.isa(), "seed": seed, "config": config,
        "final": after[-1], "after": after,
        "forgetting": _percent(metrics.forgetting(_table(steps))) if run.scenario == "nc" else 0.0,
        "classes": [len(step.classes) for step in steps],
        "memory_bytes": learner.memory_bytes, "cpu_seconds": round(time.process_time() - start),
        "hash": row_hash(learner),
    }  # fmt: skip
    if len(now):
        result |= {"flipped": int(np.count_nonzero(before != now)), "binary_weights": len(now)}
    return result | ({"device": device} if run.bits == "float" else {})


def _strategy(run: Run, model: zoo.Model, device: str) -> Any:
    """The library's strategy or a control, with a gain of its own if the run has one."""
    kinds = dict(STRATEGIES) | CONTROLS
    kind = kinds["naive" if run.strategy == "joint" else run.strategy]
    base = next(name for name in STRATEGIES if issubclass(kind, STRATEGIES[name]))
    settings = Settings(
        strategy=base,
        bits=run.bits,
        replay_layer=run.replay_layer,
        latent_bits=run.latent_bits,
        memory_per_class=run.memory_per_class,
        epochs=run.epochs,
        min_steps=run.min_steps,
        augment=run.augment,
        seed=run.seed,
    )
    if run.gain is not None:
        kind = type(kind.__name__, (kind,), {"gain": Fraction(run.gain)})
    strategy: Any = kind.on(assembly.context_of(model, settings, device))
    if run.gradients is not None:
        from rounded_gradients import rounded_tail

        strategy.tail = rounded_tail(strategy.tail, run.gradients)
    if run.binary == "flips" and run.bits != "float":
        strategy.tail = sign_flips(strategy.tail)
    elif run.binary is not None:
        from float_latents import learning_tail

        strategy.tail = learning_tail(strategy.tail, run.binary, run.latent_start, run.latent_gain, run.seed)
        usual = strategy._first_rate
        strategy._first_rate = lambda steps: min(usual(steps), MAX_WITH_FLIPS)  # as with whole numbers
    return strategy


def _signs(learner: Learner, bits: str) -> np.ndarray:
    """The binary weights that learn; none where they are frozen."""
    parts = learner.state().parts
    arrays = parts["tail"].arrays if "tail" in parts else {}
    latent = [array for name, array in sorted(arrays.items()) if name.endswith(".latent")]
    if bits == "float":
        return np.concatenate([np.zeros(0, bool), *(array.reshape(-1).view(np.float32) >= 0 for array in latent)])
    width = int(bits.split("/")[1])
    each = [load_latent(array, array.shape[-1] * (2 if width == 4 else 1), width) >= 0 for array in latent]
    return np.concatenate([part.reshape(-1) for part in each] or [np.zeros(0, bool)])


def _table(steps: list[Step]) -> np.ndarray:
    return metrics.experience_table([step.classes for step in steps], [step.evaluation.per_class for step in steps])


def _percent(share: float) -> float:
    return round(100 * float(share), 2)


def weights(model: zoo.Model) -> str:
    """NAME@GENERATION: rows name what they were made with, so that better weights do not make them stale."""
    name, _, generation = model.path.stem.partition("@")
    return f"{name}@{generation or 1}" if model.path.parent == zoo.FOLDER else f"{model.name}@{model.digest[:6]}"


def commit() -> str:
    """Of the checkout; "+" if files differ from it. BITREPLAY_COMMIT says it for a copy of the files without .git."""
    if named := os.environ.get("BITREPLAY_COMMIT"):
        return named
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    process = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return process.stdout.strip() or "unknown"


def machine() -> str:
    """The processor; BITREPLAY_MACHINE says more, as a GPU that the float twin ran on."""
    if named := os.environ.get("BITREPLAY_MACHINE"):
        return named
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
