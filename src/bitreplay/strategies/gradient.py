"""Strategies that learn by gradient steps on a tail and a head: what they share, the loop above all.

    images -> backbone -> level code -> minibatch of new (and replayed) latents -> tail: forward, backward, update
                                    \\-> memory                                  head: consolidated per experience

`Gradient.learn` is the whole loop. A strategy says what learns (`trains`), where the rate starts (`gain`, `eased`), how
an experience begins and ends, what joins the new samples of a minibatch, and what is kept of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import method, native, native_method
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.graph import Fixed
from bitreplay.learning.classes import Classes, Name
from bitreplay.learning.progress import Watch
from bitreplay.learning.reports import Learned, Stored
from bitreplay.learning.samples import LatentsOf, Pictures, Samples
from bitreplay.parts.backbone import Backbone
from bitreplay.parts.cwr_head import CwrHead
from bitreplay.parts.part import MAX_COUNTER, ArrayState, Part, between, need
from bitreplay.parts.replay_memory import ReplayMemory
from bitreplay.parts.state import State
from bitreplay.parts.tail import Tail, TailLike
from bitreplay.prediction.predictor import LogitPredictor
from bitreplay.strategies import gradient_requirements
from bitreplay.strategies.augmentation import augmented
from bitreplay.strategies.requirements import Requirements
from bitreplay.strategies.strategy import Strategy, StrategyContext

if TYPE_CHECKING:
    from bitreplay.settings import Settings

FIRST_ROOM = 16
FLOAT = "float"
BATCH_SIZES = (32, 16, 8, 4, 2, 1)
MICRO_BATCH_SIZES = (None, 64, 32, 16, 8, 4, 2, 1)
REPLAYED_PER_NEW = 4
MAX_EXPERIENCES = (1 << 31) - 1  # a stored sample's is an int32


class Gradient(Strategy):
    """Head and tail have room for a number of classes, which doubles when a new name does not fit."""

    latents: ClassVar[str] = "latents"
    keeps: ClassVar[str] = "latents"
    trains: ClassVar[str] = "tail"
    gain: ClassVar[Fraction]
    eased: ClassVar[bool] = False
    own_settings: ClassVar[frozenset[str]] = frozenset(
        {"replay_layer", "latent_bits", "memory_per_class", "epochs", "min_steps", "batch_size", "replay_batch_size",
         "learning_rate", "augment", "micro_batch_size"}
    )  # fmt: skip
    kinds: ClassVar[Mapping[str, type[Part]]] = {"tail": Tail, "head": CwrHead, "memory": ReplayMemory}
    counters: ClassVar[tuple[str, ...]] = ("experiences",)
    latent_type = np.uint64

    def __init__(self, backbone: Backbone, tail: TailLike, head: Any, memory: Any, settings: Settings) -> None:
        self.backbone, self.tail, self.head, self.memory, self.settings = backbone, tail, head, memory, settings
        self.side, self.latent_shape = backbone.input_shape[0], backbone.latent_shape
        self.classes = Classes()
        self.experiences = 0

    @classmethod
    def on(cls, context: StrategyContext, state: State | None = None) -> Gradient:
        return cls.with_room(context, FIRST_ROOM if state is None else _room_for(context, state))

    @classmethod
    def with_room(cls, context: StrategyContext, room: int) -> Gradient:
        settings = context.settings
        bits = settings.bits if isinstance(settings.bits, Bits) else Bits()
        backbone = Backbone(context.graph, context.replay_layer, bits, settings.latent_bits)
        tail = _tail(context, room, cls.trains)
        kinds = cast(Mapping[str, Any], cls.kinds)
        head = kinds["head"](room, tail.head_weights.shape[1] - 1)
        memory = kinds["memory"](settings.memory_per_class, backbone.latent_shape, settings.seed)
        return cls(backbone, tail, head, memory, settings)

    # planning

    @classmethod
    def requirements(cls, context: StrategyContext, classes: int) -> Requirements | None:
        if cls.kinds != Gradient.kinds:  # nothing is known of other parts
            return None
        return gradient_requirements.planned(cls, context, classes, room_for(classes))

    def memory_items(self) -> dict[tuple[str, str], int]:
        if self.kinds != Gradient.kinds or not isinstance(self.tail, Tail):
            return super().memory_items()
        return gradient_requirements.used(self, self.tail)

    @classmethod
    def with_less_memory(cls, settings: Settings) -> list[Settings]:
        """Micro-batches end in the same state. Where binary weights learn they are not possible, and the minibatch gets
        smaller."""
        if isinstance(settings.bits, Bits) and settings.bits.backward_binary == 1:
            return [settings.changed(micro_batch_size=size) for size in MICRO_BATCH_SIZES]
        return [settings.changed(batch_size=size, replay_batch_size=REPLAYED_PER_NEW * size) for size in BATCH_SIZES]

    @classmethod
    def summary(cls, settings: Settings) -> str:
        stored = f", {settings.memory_per_class} a class of {settings.latent_bits} bit" if cls.stores_samples else ""
        micro = f", micro-batch size {settings.micro_batch_size}" if settings.micro_batch_size else ""
        return (
            f"{cls.name} {settings.bits}{stored}, replay layer {settings.replay_layer or 'last'}, "
            f"batch size {settings.batch_size}{micro}"
        )

    # the method

    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.uint64]:
        return self.backbone.latents(images)

    def learn(self, samples: Samples, names: list[Name], watch: Watch) -> Learned:
        """The loop. Of chosen samples `fresh` returns the latents of this step, `plain` those to store."""
        self._need_room_to_count()
        fresh, plain = self._codes(samples, watch)
        labels, added = self._indices(names)
        present = self._present(labels)
        self.begin(present)
        size = self.settings.batch_size
        epochs = native_method.epochs(len(names), size, self.settings.epochs, self.settings.min_steps)
        steps = epochs * -(-len(names) // size)
        rate = self._rates(steps)
        minibatches = (chosen for epoch in range(epochs) for chosen in self._minibatches(len(names), epoch))
        for done, chosen in enumerate(minibatches):
            watch.check()
            self.tail.step(*self.join(fresh(chosen), labels[chosen]), rate(done))
            watch.report("steps", done + 1, steps)
        self.end(present)
        offered = self.memory.offered
        self.keep(plain, labels)
        self.experiences += 1
        return Learned(self.experiences - 1, range(offered, self.memory.offered), added, steps, len(names))

    def _need_room_to_count(self) -> None:
        """Raise ValueError if a counter is too high: the state could not be loaded again."""
        known = self.experiences
        need(known < MAX_EXPERIENCES, f"{known} experiences are all that a state can count: begin a new one.")
        counted = max([int(self.head.past.max(initial=0)), *self.memory.seen.values()])
        need(
            counted < MAX_COUNTER >> 1,
            f"{counted} samples of a class are all that a state can count: begin a new one.",
        )

    def begin(self, present: NDArray[np.int64]) -> None:
        """Begin with the consolidated weights of the classes present."""
        self.tail.load_head(self.head.begin_experience(present), (present > 0).astype(np.uint8))

    def end(self, present: NDArray[np.int64]) -> None:
        """Consolidate, and predict with the consolidated weights from now on."""
        self.head.consolidate(self.tail.head_weights, present)
        self.tail.load_head(self.head.consolidated_weights, self.head.seen)

    def join(self, latents: NDArray[np.uint64], labels: NDArray[np.int32]) -> tuple[NDArray, NDArray[np.int32]]:
        """A minibatch from its new samples."""
        return latents, labels

    def keep(self, plain: LatentsOf, labels: NDArray[np.int32]) -> None:
        """Offer the samples of an experience to the memory."""

    def _codes(self, samples: Samples, watch: Watch) -> tuple[LatentsOf, LatentsOf]:
        """Augmented images are changed and encoded in each step; all others are encoded once."""
        if isinstance(samples, Pictures) and self.settings.augment:
            images, encode, seed = samples.images, samples.encode, self.settings.seed
            return lambda chosen: encode(augmented(images[chosen], seed, self.tail.steps)), samples.latents
        plain = samples.coded(watch)
        return plain.latents, plain.latents

    def _indices(self, names: list[Name]) -> tuple[NDArray[np.int32], list[Name]]:
        """Class numbers, and the new names; head and tail grow if they must."""
        old = set(self.classes.known)
        self.classes.add(names)
        room = room_for(len(self.classes), len(self.head.past))
        if room != len(self.head.past):
            self.tail = self.tail.resized(room)
            self.head.resize(room)
        return self.classes.indices(names), [name for name in self.classes.known if name not in old]

    def _present(self, indices: NDArray[np.int32]) -> NDArray[np.int64]:
        """The number of distinct samples of each class, new and stored."""
        counts = np.bincount(indices, minlength=len(self.head.past)).astype(np.int64)
        for number, count in self.memory.counts().items():
            counts[number] += count
        return counts

    def _rates(self, steps: int) -> Callable[[int], Any]:
        """The rate after so many steps: of a tail in floating point a fraction, which the core does not know."""
        if isinstance(self.tail, Tail):
            base, kind = self._base_rate()
            return lambda done: native_method.rate(base, kind, done, steps)
        first = self._first_rate(steps)
        return lambda done: method.rate(first, method.GIVEN, done, steps)

    def _first_rate(self, steps: int) -> Fraction:
        return method.rate(*self._base_rate(), 0, steps)

    def _base_rate(self) -> tuple[Fraction, int]:
        """What the first rate follows from, and how: engine/method.py."""
        if self.settings.learning_rate is not None:
            return self.settings.learning_rate, method.GIVEN
        bits, fitted = self.settings.bits, self.gain / self.tail.feature_power
        flips = isinstance(bits, Bits) and bits.backward_binary > 1 and self.trains == "tail"
        if self.eased:
            return fitted, method.FITTED_WITH_FLIPS if flips else method.FITTED
        return min(fitted, method.MAX_WITH_FLIPS if flips else method.MOST), method.GIVEN

    def _minibatches(self, samples: int, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Sample numbers in a fresh order each epoch; the last minibatch may be short."""
        order = native_method.epoch_order(self.settings.seed, self.experiences, epoch, samples)
        for start in range(0, samples, self.settings.batch_size):
            yield order[start : start + self.settings.batch_size]

    def forget(self, label: Name) -> None:
        """Remove stored samples, weights of the head and counts. Other weights of the tail stay as they are."""
        number = self.classes.number(label)
        self.memory.forget_class(number)
        self.head.forget(number)
        self.classes.forget(number)
        weights = self.tail.head_weights
        weights[number] = 0
        self.tail.load_head(weights, self.head.seen)

    def forget_sample(self, sample: int) -> bool:
        return self.memory.forget_sample(sample)

    # what may be asked

    def predictor(self) -> LogitPredictor:
        return LogitPredictor(
            self.classes.names,
            self.head.seen,
            self.tail.answering(),
            self.memory.stored_latents(),
            self.settings.latent_bits,
        )

    def state(self) -> State:
        parts = {"tail": self.tail.state_dict(), "head": self.head.state_dict(), "memory": self.memory.state_dict()}
        return State(self.classes.names, parts, {"experiences": self.experiences})

    def load_state(self, state: State) -> None:
        room = _room(state)
        # Of the tail alone: a change that was stopped may have left head and tail with room for different numbers.
        tail = self.tail if room == len(self.tail.head_weights) else self.tail.resized(room)
        parts = {"tail": tail, "head": self.head, "memory": self.memory}
        need(
            all(part.fits(state.parts[name]) for name, part in parts.items()), "its arrays have other names or shapes."
        )
        for name, part in parts.items():
            part.load_state_dict(state.parts[name])
        self.tail, self.experiences = tail, state.strategy_counters["experiences"]
        self.classes.restore(state.names)

    def footprint(self) -> dict[str, int]:
        """Memory to run backbone and tail, learned parameters, stored latents, now and when the memory is full."""
        sample = 8 * int(np.prod(self.latent_shape))
        footprint = native.footprint(self.backbone.program)
        items = {
            "backbone_working_memory": footprint.total,
            "backbone_another_arena": footprint.arena + footprint.scratch,
        }
        if isinstance(self.tail, Tail):
            footprint = native.footprint(self.tail.program)
            items["tail_working_memory"] = footprint.total - footprint.parameters
            items["tail_sums_of_a_sample"] = self.tail.parts_bytes
            items["tail_another_arena"] = footprint.arena + footprint.scratch
        items["learned_parameters"] = sum(values.nbytes for values in self.tail.state_dict().arrays.values())
        items["one_latent"] = sample
        items["stored_latents"] = sample * len(self.memory)
        items["stored_latents_when_full"] = sample * self.settings.memory_per_class * int(self.head.seen.sum())
        return items

    @classmethod
    def stored(cls, state: State) -> list[Stored]:
        return cast(Any, state.parts["memory"]).stored(state.names)

    @classmethod
    def samples_seen(cls, state: State) -> int:
        return state.parts["memory"].counters["offered"]

    @classmethod
    def pictures(cls, state: State) -> int:
        return int(state.parts["head"].arrays["past"].sum())

    @classmethod
    def described(cls, state: State) -> dict[str, Any]:
        return {
            "room_for_classes": _room(state), "experiences": state.strategy_counters["experiences"],
            "steps": state.parts["tail"].counters["steps"], "samples_seen": cls.samples_seen(state),
            "memory_bytes": cls.memory_bytes(state),
        }  # fmt: skip

    @classmethod
    def read(
        cls, names: tuple[Name | None, ...], content: dict[str, ArrayState], counters: Mapping[str, Any],
        note_arrays: Mapping[str, NDArray[np.uint64]],
    ) -> State:  # fmt: skip
        state = super().read(names, content, counters, note_arrays)
        experiences = state.strategy_counters["experiences"]
        need(experiences <= MAX_EXPERIENCES, "It has too many experiences.")
        _check_mask(state)
        for memory in cls.stored(state):
            origins = np.array(list(memory.experiences), np.int64)
            need(between(origins, 0, experiences), "Its memory holds samples that were never seen.")
        return state


def room_for(classes: int, room: int = FIRST_ROOM) -> int:
    """It doubles until this many classes fit."""
    return room if classes <= room else room_for(classes, 2 * room)


def _check_mask(state: State) -> None:
    """The classes that the tail lets take part are those that the head was consolidated for: another one would take a
    share of the probabilities, or be answered, and has no name. Before anything is known nobody is answered."""
    past = state.parts["head"].arrays["past"]
    masks = [
        array for name, array in state.parts["tail"].arrays.items() if name == "active" or name.endswith(".active")
    ]
    if any(name is not None for name in state.names):
        need(all(np.array_equal(mask, past > 0) for mask in masks), "The classes of its head do not fit its names.")


def _room(state: State) -> int:
    """Classes that head and tail have room for."""
    return len(state.parts["head"].arrays["past"])


def _room_for(context: StrategyContext, state: State) -> int:
    """As `_room`, if the state's weights are as wide as the model's: a few bytes could claim room for gigabytes."""
    weights = state.parts["head"].arrays.get("consolidated_weights")
    head = context.graph.nodes[-1].arrays.get("weights")
    wide = head.values.shape[1] + 1 if isinstance(head, Fixed) else 0
    need(weights is None or not wide or weights.shape[1] == wide, "its head has another width.")
    return _room(state)


def _tail(context: StrategyContext, room: int, train: str) -> TailLike:
    settings = context.settings
    if settings.bits != FLOAT:
        assert isinstance(settings.bits, Bits)
        return Tail(
            context.graph,
            context.replay_layer,
            settings.bits,
            room,
            settings.minibatch_size,
            latent_bits=settings.latent_bits,
            train=train,
            seed=settings.seed,
            micro_batch_size=settings.micro_batch_size,
        )
    try:
        from bitreplay.torch.twin.float_learner import FloatStepper
    except ImportError:
        raise ValueError("bits float needs torch: install bitreplay[torch].") from None
    return FloatStepper(
        context.graph, context.replay_layer, room, latent_bits=settings.latent_bits, train=train, device=context.device
    )
