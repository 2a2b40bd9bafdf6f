"""Controls: the method with one thing changed, to see what that thing is worth.

frozen-tail       replay, but only the head learns: what does training the tail add?
no-consolidation  replay with one head that is carried on: what does CWR* add?
past-1, past-0    replay whose CWR* trusts the past at most as much as (or not more than nothing of) the present:
                  r = sqrt(n_past / n_now) is 12.9 where 30 of 5,000 pictures are stored
"""

from __future__ import annotations

import os
import zlib
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


def spread(name: str, shape: tuple[int, ...], start: int, highest: int, scale: NDArray) -> NDArray[np.int64]:
    """Evenly from 1 to twice `start` units: model files keep signs alone, and trained magnitudes are no more equal."""
    rng = np.random.Generator(np.random.Philox(zlib.crc32(name.encode())))
    return np.minimum(rng.integers(1, 2 * start + 1, shape), highest)


def magnitude(name: str, shape: tuple[int, ...], start: int, highest: int, scale: NDArray) -> NDArray[np.int64]:
    """Bi-Real Net's magnitude-aware steps: as `spread`, about a start in proportion to the scale of each output."""
    rng = np.random.Generator(np.random.Philox(zlib.crc32(name.encode())))
    about = latent_weights.by_scale(start, highest, scale).reshape(-1, *[1] * (len(shape) - 1))
    return np.minimum(rng.integers(1, 2 * about + 1, shape), highest)


def trained(name: str, shape: tuple[int, ...], start: int, highest: int, scale: NDArray) -> NDArray[np.int64]:
    """In proportion to the magnitudes that the network was trained with, `start` for the layer's mean.

    BITREPLAY_LATENTS names a .npz file with an array a layer, 32 for the mean; networks that ship have none.
    """
    with np.load(os.environ["BITREPLAY_LATENTS"]) as latents:
        return np.clip((latents[name].astype(np.int64) * start + 16) // 32, 1, highest)


DISTANCES = {"equal": latent_weights.equal, "spread": spread, "magnitude": magnitude, "trained": trained}


@contextmanager
def latent_start(how: str, powers: int) -> Iterator[None]:
    """Latent weights that start so, and move 2^powers times as fast, while a learner is made."""
    usual = dict(latent_weights.LATENT_GAIN)
    latent_weights.DISTANCES[0] = DISTANCES[how]
    latent_weights.LATENT_GAIN.update({bits: gain + powers for bits, gain in usual.items()})
    try:
        yield
    finally:
        latent_weights.LATENT_GAIN.update(usual)
        latent_weights.DISTANCES[0] = latent_weights.equal
