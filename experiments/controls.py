"""Controls: the method with one thing changed, to see what that thing is worth.

frozen-tail       replay, but only the head learns: what does training the tail add?
no-consolidation  replay with one head that is carried on: what does CWR* add?
past-1, past-0    replay whose CWR* trusts the past at most as much as (or not more than nothing of) the present:
                  r = sqrt(n_past / n_now) is 12.9 where 30 of 5,000 pictures are stored
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.layers import latent_weights
from bitreplay.strategies import Strategy
from bitreplay.strategies.replay import Replay


class FrozenTail(Replay):
    trains: ClassVar[str] = "head"


class NoConsolidation(Replay):
    def begin(self, present: NDArray[np.int64]) -> None:
        self.tail.load_head(self.tail.head_weights, ((present > 0) | (self.head.past > 0)).astype(np.uint8))

    def end(self, present: NDArray[np.int64]) -> None:
        self.head.count(present)


class PastAtMost(Replay):
    """n_past counts as at most `most` times n_now."""

    most: ClassVar[int]

    def end(self, present: NDArray[np.int64]) -> None:
        past = self.head.past.copy()
        self.head.past = np.where(present > 0, np.minimum(past, self.most * present), past)
        super().end(present)
        self.head.past = past + present
        self.tail.load_head(self.head.consolidated_weights, self.head.seen)


class PastOne(PastAtMost):
    most: ClassVar[int] = 1


class PastNothing(PastAtMost):
    most: ClassVar[int] = 0


CONTROLS: dict[str, type[Strategy]] = {
    "frozen-tail": FrozenTail,
    "no-consolidation": NoConsolidation,
    "past-1": PastOne,
    "past-0": PastNothing,
}


@contextmanager
def latent_gain(powers: int) -> Iterator[None]:
    """Latent weights that move 2^powers times as fast while a learner is made."""
    usual = dict(latent_weights.LATENT_GAIN)
    latent_weights.LATENT_GAIN.update({bits: gain + powers for bits, gain in usual.items()})
    try:
        yield
    finally:
        latent_weights.LATENT_GAIN.update(usual)
