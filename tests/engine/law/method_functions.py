"""The method's functions as vector files call them: the oracle's and the code under test's (see functions.py)."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from bitreplay.engine import method as reference
from bitreplay.engine import native_method
from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.parts.cwr_head import CwrHead
from bitreplay.parts.replay_memory import ReplayMemory
from tests.engine.law import method

KINDS = ("given", "fitted", "fitted with flips")  # of br_rate_kind


def consolidate(cw: Any, tw: Any, past: Any, present: Any) -> Any:
    head = CwrHead(len(cw), len(cw[0]) - 1)
    head.consolidated_weights[...], head.past[...] = cw, past
    head.consolidate(np.array(tw, np.int32), np.array(present, np.int64))
    return [head.consolidated_weights.tolist(), head.past.tolist()]


def reservoir(memory_per_class: int, seed: int, experiences: Any, draws: Any) -> Any:
    """Offer labels of numbered samples, then draw: [class, number] of each stored one, and the numbers drawn."""
    memory, offered = ReplayMemory(memory_per_class, (1,), seed), 0
    for number, labels in enumerate(experiences):
        latents = np.arange(offered, offered + len(labels), dtype=np.uint64)[:, None]
        memory.update(latents, np.array(labels, np.int32), number)
        offered += len(labels)
    drawn = [memory.sample(count)[0][:, 0].tolist() for count in draws]
    return [[[int(c), int(n)] for c, n in zip(memory.labels, memory.latents[:, 0], strict=True)], drawn]


def expected_reservoir(memory_per_class: int, seed: int, experiences: Any, draws: Any) -> Any:
    memory = method.Reservoir(memory_per_class, seed)
    for labels in experiences:
        memory.update(labels)
    stored = memory.stored()
    return [[list(pair) for pair in stored], [[stored[at][1] for at in memory.sample(count)] for count in draws]]


def minibatches(samples: int, size: int, seed: int, experience: int, epoch: int) -> Any:
    from bitreplay.strategies.replay import Replay

    strategy = object.__new__(Replay)  # the order depends on nothing but these
    vars(strategy).update(settings=SimpleNamespace(batch_size=size, seed=seed), experiences=experience)
    return [chosen.tolist() for chosen in strategy._minibatches(samples, epoch)]


def rate(fraction: Any, kind: str, done: int, steps: int) -> Any:
    arguments = Fraction(*fraction), KINDS.index(kind), done, steps
    found = native_method.rate(*arguments)
    assert found == Multiplier.of(reference.rate(*arguments))
    return [found.mantissa, found.shift]
