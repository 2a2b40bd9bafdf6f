"""A toy of everything that can be added without changing the package: two strategies, a memory, a head, a data set.

`Means` takes no gradient step and has neither tail nor memory: it adds up latents and answers with the nearest mean.
`Latest` is replay with another memory and another head.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.data.dataset import Dataset
from bitreplay.data.named import Request, Source
from bitreplay.engine.arithmetic.packing import unpack
from bitreplay.engine.bit_widths import Bits
from bitreplay.learning.classes import Classes, Name
from bitreplay.learning.progress import Watch
from bitreplay.learning.reports import Learned
from bitreplay.learning.samples import Samples
from bitreplay.parts.backbone import Backbone
from bitreplay.parts.cwr_head import CwrHead
from bitreplay.parts.part import ArrayState, Names, Part, PartState, array_of, need
from bitreplay.parts.replay_memory import ReplayMemory
from bitreplay.parts.state import State
from bitreplay.parts.tail import Tail
from bitreplay.strategies import Strategy, StrategyContext
from bitreplay.strategies.replay import Replay
from tests import tiny

AT_ONCE = 7


class Sums:
    """A part: for each class, how many latents there were and how often each bit was set. Rows follow the names."""

    version: ClassVar[int] = 1
    counters: ClassVar[tuple[str, ...]] = ()

    def __init__(self, numbers: int) -> None:
        self.count, self.ones = np.zeros(0, np.int64), np.zeros((0, numbers), np.int64)

    @classmethod
    def read(cls, found: ArrayState, names: Names) -> ArrayState:
        count, ones = array_of(found, "sums", "count", np.int64, 1), array_of(found, "sums", "ones", np.int64, 2)
        fits = len(count) == len(ones) == len(names) and None not in names
        need(fits and (count > 0).all() and (ones >= 0).all() and (ones <= count[:, None]).all(), "Its sums are wrong.")
        return found

    def state_dict(self) -> ArrayState:
        return ArrayState({"count": self.count.copy(), "ones": self.ones.copy()})

    def fits(self, given: PartState) -> bool:
        return given.arrays["ones"].shape[1] == self.ones.shape[1]

    def load_state_dict(self, given: PartState) -> None:
        self.count, self.ones = given.arrays["count"].copy(), given.arrays["ones"].copy()


@dataclass(frozen=True)
class NearestMean:
    labels: tuple[Name, ...]
    means: NDArray[np.int64]

    def names(self, latents: NDArray, unknown: Fraction) -> NDArray:
        return Classes(self.labels).named(self._far(latents).argmin(axis=1))

    def probabilities(self, latents: NDArray) -> NDArray[np.float64]:
        far = self._far(latents)
        return (far == far.min(axis=1, keepdims=True)) / (far == far.min(axis=1, keepdims=True)).sum(1, keepdims=True)

    def _far(self, latents: NDArray) -> NDArray[np.int64]:
        return np.abs((latents.astype(np.int64) << 16)[:, None] - self.means[None]).sum(axis=2)


class Means(Strategy):
    name: ClassVar[str] = "means"
    title: ClassVar[str] = "nearest mean"
    latents: ClassVar[str] = "bits as bytes"
    kinds: ClassVar[Mapping[str, type[Part]]] = {"sums": Sums}
    notes: ClassVar[tuple[str, ...]] = ("experiences",)
    latent_type = np.int8

    def __init__(self, context: StrategyContext) -> None:
        self.settings, self.side = context.settings, context.graph.input_shape[0]
        self._channels = context.graph.shapes[context.replay_layer][2]
        self._backbone = Backbone(context.graph, context.replay_layer, Bits())
        self.latent_shape = (int(np.prod(context.graph.shapes[context.replay_layer])),)
        self.classes, self.sums, self.experiences = Classes(), Sums(*self.latent_shape), 0

    @classmethod
    def on(cls, context: StrategyContext, state: State | None = None) -> Means:
        return cls(context)

    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.int8]:
        bits = unpack(self._backbone.latents(images), self._channels)
        return bits.reshape(len(images), -1).astype(np.int8)

    def learn(self, samples: Samples, names: list[Name], watch: Watch) -> Learned:
        added = sorted(set(names) - set(self.classes.known), key=str)
        self._rows(sorted([*self.classes.known, *added], key=str))
        numbers = self.classes.indices(names)
        for start in range(0, len(names), AT_ONCE):
            watch.check()
            chosen = np.arange(start, min(start + AT_ONCE, len(names)))
            np.add.at(self.sums.count, numbers[chosen], 1)
            np.add.at(self.sums.ones, numbers[chosen], samples.latents(chosen).astype(np.int64))
            watch.report("pictures", int(chosen[-1]) + 1, len(names))
        self.experiences += 1
        return Learned(self.experiences - 1, range(0), added, 0, len(names))

    def forget(self, label: Name) -> None:
        self._rows([name for name in self.classes.known if name != self.classes.known[self.classes.number(label)]])

    def rename(self, old: Name, new: Name) -> None:
        self.classes.rename(old, new)
        self._rows(sorted(self.classes.known, key=str))

    def _rows(self, names: list[Name]) -> None:
        """Sums for these names, in this order; zeros for new ones."""
        before = self.classes.indices(names)
        known = np.where(before < 0, 0, before)
        self.sums.count = np.where(before < 0, 0, np.append(self.sums.count, 0)[known])
        padded = np.append(self.sums.ones, np.zeros((1, self.sums.ones.shape[1]), np.int64), axis=0)
        self.sums.ones = np.where((before < 0)[:, None], 0, padded[known])
        self.classes = Classes(names)

    def predictor(self) -> NearestMean:
        return NearestMean(tuple(self.classes.known), (self.sums.ones << 16) // np.maximum(self.sums.count, 1)[:, None])

    def state(self) -> State:
        return State(self.classes.names, {"sums": self.sums.state_dict()}, notes={"experiences": self.experiences})

    def load_state(self, state: State) -> None:
        need(self.sums.fits(state.parts["sums"]), "its sums are of other numbers.")
        self.sums.load_state_dict(state.parts["sums"])
        self.classes, self.experiences = Classes(state.names), state.notes["experiences"]

    def footprint(self) -> dict[str, int]:
        return {"sums": self.sums.count.nbytes + self.sums.ones.nbytes}

    @classmethod
    def pictures(cls, state: State) -> int:
        return int(state.parts["sums"].arrays["count"].sum())

    @classmethod
    def described(cls, state: State) -> dict[str, Any]:
        return {"pictures": cls.pictures(state)}


class LatestMemory(ReplayMemory):
    """Keeps the last samples of each class: a new one takes the place of the oldest."""

    version: ClassVar[int] = 3

    def _choose(self, c: int, offered: int) -> dict[int, int]:
        seen = self._reservoir(c).seen
        return {(seen + offer) % self.memory_per_class: offer for offer in range(offered)}


class PlainHead(CwrHead):
    """Consolidates nothing: what was trained last counts."""

    def consolidate(self, temporary_weights: NDArray[np.int32], present: NDArray[np.int64]) -> None:
        here = present > 0
        self.consolidated_weights[here] = temporary_weights[here]
        self.count(present)


class Latest(Replay):
    name: ClassVar[str] = "latest"
    title: ClassVar[str] = "latest samples"
    kinds: ClassVar[Mapping[str, type[Part]]] = {"tail": Tail, "head": PlainHead, "memory": LatestMemory}


def colours(asked: Request) -> Source:
    """Plain colours, 12 pictures of each to learn from and 5 to test."""
    train, test = (tiny.pictures(*tiny.COLOURS, each=each, seed=seed) for each, seed in ((12, 0), (5, 1)))
    names = tuple(tiny.COLOURS)
    labels = [np.array([names.index(label) for label in part[1]]) for part in (train, test)]
    return Source(Dataset(train[0], labels[0], test[0], labels[1], names), (2, 2), 3)
