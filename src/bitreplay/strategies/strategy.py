"""What a strategy is: it owns what is learned. The learner (learner.py) calls it, one change at a time.

    encode              images -> the latents that it learns from
    learn               one experience
    predictor           an immutable copy that answers
    state, load_state   all of it, by value, and back
    forget, rename

To add one: a class in a file of its own, and a line in STRATEGIES. Those that learn by gradients share the loop of
gradient.py; others need no steps, tail or memory. Nothing outside of this folder asks for a strategy's name: what else
differs, such as the memory that it needs, is a class variable or a method here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.graph import Graph
from bitreplay.learning.classes import Classes, Name
from bitreplay.learning.progress import Watch
from bitreplay.learning.reports import Learned, Stored
from bitreplay.learning.samples import Samples
from bitreplay.parts.part import MAX_COUNTER, ArrayState, Part, need
from bitreplay.parts.state import State
from bitreplay.prediction.predictor import Predictor
from bitreplay.strategies.requirements import DevicePrograms, Requirements
from bitreplay.zoo import Model

if TYPE_CHECKING:
    from bitreplay.settings import Settings


@dataclass(frozen=True)
class StrategyContext:
    """What a strategy is built from: a network, the replay layer, settings. `device` is where a tail in floating point
    runs."""

    model: Model
    replay_layer: str
    settings: Settings
    device: str = "cpu"

    @cached_property
    def graph(self) -> Graph:
        """The network for images of the size in the settings."""
        return self.model.at_size(self.settings.size)


class Strategy(ABC):
    """`kinds` are its parts by name, `counters` its own counters, `notes` those that the hash does not see, and
    `note_arrays` arrays of uint64 that it does not see.

    `own_settings` are the fields of Settings that only strategies of this kind read.

    `title` names it in tables, `latents` what it encodes pictures to: strategies of one name there, on one model
    with the same bits, share latents; both are `name` unless a class sets them. `keeps` names what it keeps of
    images. `stores_samples`: it keeps latents of images. `refuses`: it can answer "unknown". `augments`: it sees
    images several times, so that changed views mean something. `unlearns`: it can take single images out again.
    `merges`: its states add up (lifecycle/merging.py). `proposed`: `bitreplay plan --budget` proposes it.
    `latent_shape` and `latent_type` are those of one sample, `side` is that of the images.

    `c_learner` is the strategy of the C learner that runs its states, if there is one; a subclass must name its own,
    since it may have other parts. `exported_settings` are what `bitreplay export` writes down of its settings.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    latents: ClassVar[str]
    keeps: ClassVar[str] = "numbers"
    stores_samples: ClassVar[bool] = False
    refuses: ClassVar[bool] = False
    augments: ClassVar[bool] = True
    unlearns: ClassVar[bool] = False
    merges: ClassVar[bool] = False
    proposed: ClassVar[bool] = False
    c_learner: ClassVar[str | None] = None
    exported_settings: ClassVar[tuple[str, ...]] = ()
    own_settings: ClassVar[frozenset[str]] = frozenset()
    kinds: ClassVar[Mapping[str, type[Part]]]
    counters: ClassVar[tuple[str, ...]] = ()
    notes: ClassVar[tuple[str, ...]] = ()
    note_arrays: ClassVar[tuple[str, ...]] = ()

    settings: Settings
    classes: Classes
    side: int
    latent_shape: tuple[int, ...]
    latent_type: type
    experiences: int

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        name = getattr(cls, "name", "")
        cls.title, cls.latents = getattr(cls, "title", name), getattr(cls, "latents", name)
        cls.c_learner = vars(cls).get("c_learner")

    # making one

    @classmethod
    @abstractmethod
    def on(cls, context: StrategyContext, state: State | None = None) -> Strategy:
        """A strategy that has learned nothing, with room for what `state` holds."""

    @classmethod
    def usage(cls, context: StrategyContext) -> str:
        """What was asked of a model, for a sentence about one that cannot do it."""
        settings = context.settings
        return (
            f"at replay layer {context.replay_layer} with bits {settings.bits}, latents of {settings.latent_bits} bits"
        )

    # planning

    @classmethod
    def requirements(cls, context: StrategyContext, classes: int) -> Requirements | None:
        """What it will need for this many classes; None if that is found out by trying it."""
        return None

    def memory_items(self) -> dict[tuple[str, str], int]:
        """Bytes of RAM that it uses, by part and purpose, as the items of `requirements` name them."""
        return {(self.name, purpose.replace("_", " ")): count for purpose, count in self.footprint().items()}

    @classmethod
    def small_settings(cls, model: Model, on_device: bool = False) -> list[dict[str, Any]]:
        """Further settings to propose where there is little memory; `on_device` for the learner in C."""
        return []

    @classmethod
    def with_less_memory(cls, settings: Settings) -> list[Settings]:
        """These settings, and then what learns in their place with less memory, the largest first."""
        return [settings]

    @classmethod
    def summary(cls, settings: Settings) -> str:
        """The settings in a few words."""
        return f"{cls.name} {settings.bits}"

    @classmethod
    def device_programs(cls, context: StrategyContext, classes: int) -> DevicePrograms:
        """What a learner in C runs, for strategies that name a `c_learner`; ValueError for settings that it lacks."""
        raise NotImplementedError(f"{cls.name} names a learner in C, but not what it runs there.")

    # learning

    @abstractmethod
    def encode(self, images: NDArray[np.uint8]) -> NDArray:
        """Latents of images that have the right size; several threads may call it."""

    @abstractmethod
    def learn(self, samples: Samples, names: list[Name], watch: Watch) -> Learned:
        """Learn one experience. Whatever stops it, the learner goes back to the state before."""

    @abstractmethod
    def forget(self, label: Name) -> None:
        """Remove a class; ValueError for a label that is not known."""

    def forget_sample(self, sample: int) -> bool:
        """Remove one stored sample; returns whether it was stored."""
        return False

    def unlearn(self, samples: Samples, names: list[Name], watch: Watch) -> None:
        """Become the state that never saw these. Whatever stops it, the learner goes back to the state before."""
        raise ValueError(f"Only the strategy exact can unlearn single pictures, not {self.name}.")

    def rename(self, old: Name, new: Name) -> None:
        self.classes.rename(old, new)

    # asking

    @abstractmethod
    def predictor(self) -> Predictor:
        """What answers from now on; later changes leave it alone."""

    @abstractmethod
    def state(self) -> State:
        """A copy of all that was learned."""

    @abstractmethod
    def load_state(self, state: State) -> None:
        """Go back to a state. ValueError for one that does not fit, before anything has changed."""

    @abstractmethod
    def footprint(self) -> dict[str, int]:
        """Bytes of working memory and of what is kept, by name."""

    @classmethod
    def stored(cls, state: State) -> list[Stored]:
        """The stored samples of each class."""
        return []

    @classmethod
    def samples_seen(cls, state: State) -> int:
        """How many samples were numbered, from 0, for `forget`."""
        return 0

    @classmethod
    @abstractmethod
    def pictures(cls, state: State) -> int:
        """The number of images of known classes that were learned."""

    @classmethod
    def counted(cls, state: State) -> dict[str, int]:
        """The number of images that were learned, by class, as far as it is known."""
        return {str(kept.label): kept.seen for kept in cls.stored(state)}

    @classmethod
    def memory_bytes(cls, state: State) -> int:
        """The size of what grows with the images: stored samples, or class statistics."""
        return sum(kept.bytes for kept in cls.stored(state))

    @classmethod
    def described(cls, state: State) -> dict[str, Any]:
        """What `bitreplay info` says of a state besides its names, parts and bytes."""
        return {}

    # reading files

    @classmethod
    def read(
        cls, names: tuple[Name | None, ...], content: dict[str, ArrayState], counters: Mapping[str, Any],
        note_arrays: Mapping[str, NDArray[np.uint64]],
    ) -> State:  # fmt: skip
        """The state that a file holds, checked as far as it can be without the model; a ValueError says what is wrong.

        `content` has the arrays and the version of each part, `counters` are all of them together, with the notes.
        """
        kinds = cls.kinds
        for name in content:
            need(name in kinds, f"Its part {name[:40]!r} is not known to the strategy {cls.name}.")
        expected = [*cls.counters, *cls.notes, *(counter for kind in kinds.values() for counter in kind.counters)]
        for counter in expected:
            if counter not in counters:
                raise KeyError(counter)
        fits = all(type(counters[name]) is int and 0 <= counters[name] < MAX_COUNTER for name in expected)
        need(fits, "Its counters are not integers.")
        parts = {}
        for name, kind in kinds.items():
            part = content.get(name, ArrayState({}))
            need(
                1 <= part.version <= kind.version,
                f"Its part {name} has version {part.version}; this program reads versions up to {kind.version}.",
            )
            own_counters = {counter: counters[counter] for counter in kind.counters}
            parts[name] = kind.read(ArrayState(part.arrays, own_counters, part.version), names)
        own, notes = ({name: counters[name] for name in kept} for kept in (cls.counters, cls.notes))
        return State(names, parts, own, notes, {name: note_arrays[name] for name in cls.note_arrays})

    @classmethod
    def prove(cls, state: State) -> None:
        """ValueError for a state that `read` takes and that yet nothing can have led to: what takes too long to ask it
        of one's own files, for those that come from outside."""
        return
