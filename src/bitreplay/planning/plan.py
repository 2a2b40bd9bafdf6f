"""What a learner will take: flash, RAM, the state file, work and time. Nothing is run; programs are only compiled.
Only a strategy of one's own is tried.

    plan(zoo.find("bireal18"), Settings(strategy="replay"), classes=10).ram

Flash holds what never changes: the programs with their constants and first parameters. RAM holds the rest: tables as
they are decoded, weights in the kernels' order, what learns, arenas, and what is kept of pictures. A process that has
no flash to read from holds the programs too.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bitreplay import assembly
from bitreplay.arguments import short_repr, whole_number
from bitreplay.engine import minibatch_parts, native, native_sums
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.features import compile_features, part_lengths
from bitreplay.engine.mahalanobis import factor_bytes
from bitreplay.engine.program import Program, ProgramError
from bitreplay.engine.sums import width
from bitreplay.learner import Learner
from bitreplay.modelfile import ModelFileError
from bitreplay.planning import speed, work
from bitreplay.planning.high_water import HighWater, high_water
from bitreplay.settings import Settings
from bitreplay.strategies import STRATEGIES, StrategyContext
from bitreplay.strategies.exact import Exact
from bitreplay.strategies.gradient import FIRST_ROOM, Gradient
from bitreplay.zoo import Model, projections

AT_ONCE = 8  # pictures that the frozen network takes at a time (parts/backbone.py, parts/features.py)
OF_A_SAMPLE = 12  # bytes of its experience and its number, beside its latents
MAX_CLASSES = 1 << 20
FLASH, RAM = "flash", "ram"


@dataclass(frozen=True)
class Item:
    """Some bytes: which part of the learner, and what for."""

    where: str
    part: str
    what: str
    bytes: int


@dataclass(frozen=True)
class Plan:
    """`state` are the bytes of what is learned, without the header of its file. Work and times are estimates."""

    model: str
    size: int
    settings: Settings
    classes: int
    items: tuple[Item, ...]
    state: int
    model_file: int
    most: dict[str, HighWater]
    work: dict[str, Counter[str]]
    instruction_set: str
    picture_seconds: float
    step_seconds: float

    def of(self, where: str) -> int:
        return sum(item.bytes for item in self.items if item.where == where)

    @property
    def flash(self) -> int:
        return self.of(FLASH)

    @property
    def ram(self) -> int:
        return self.of(RAM)

    def experience_seconds(self, pictures: int) -> float:
        """To learn so many new pictures: each passes the frozen network once, then the steps of all epochs."""
        if not self.step_seconds:
            return pictures * self.picture_seconds
        each = -(-pictures // self.settings.batch_size)
        epochs = max(self.settings.epochs, -(-self.settings.min_steps // each))
        return pictures * self.picture_seconds + epochs * each * self.step_seconds

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model, "size": self.size, "strategy": self.settings.strategy, "bits": str(self.settings.bits),
            "classes": self.classes, "flash": self.flash, "ram": self.ram, "state": self.state,
            "model_file": self.model_file, "items": [asdict(item) for item in self.items],
            "most_of_the_arena": {part: asdict(found) for part, found in self.most.items()},
            "work": {part: dict(found) for part, found in self.work.items()},
            "instruction_set": self.instruction_set, "picture_seconds": self.picture_seconds,
            "step_seconds": self.step_seconds,
        }  # fmt: skip


def plan(model: Model, settings: Settings, classes: int) -> Plan:
    """For so many classes, all of them with as many samples as they may have."""
    count = whole_number(classes)
    if count is None or not 1 <= count <= MAX_CLASSES:
        raise ValueError(f"classes must be a whole number from 1 to {MAX_CLASSES}, got {short_repr(classes)}.")
    if not isinstance(settings.bits, Bits):
        raise ValueError("A plan is for whole numbers, got bits float.")
    context = assembly.context_of(model, settings)
    try:
        kind = STRATEGIES[settings.strategy]
        if issubclass(kind, Exact):
            return _exact(context, count)
        if issubclass(kind, Gradient) and kind.kinds == Gradient.kinds:
            return _gradient(context, count)
        return _tried(context, count)
    except ProgramError as error:
        asked = STRATEGIES[settings.strategy].asked(context)
        raise ModelFileError(f"{model.path} cannot be used {asked}: {error}.") from None


def _gradient(context: StrategyContext, classes: int) -> Plan:
    settings, kind = context.settings, STRATEGIES[context.settings.strategy]
    assert issubclass(kind, Gradient) and isinstance(settings.bits, Bits)
    room = FIRST_ROOM
    while room < classes:
        room *= 2
    backbone = compile_backbone(context.graph, context.replay_layer, settings.bits, AT_ONCE, settings.latent_bits)
    at_once = min(settings.micro_batch_size or settings.minibatch_size, settings.minibatch_size)
    in_parts = at_once < settings.minibatch_size
    tail = compile_tail(context.graph, context.replay_layer, settings.bits, at_once, room, settings.latent_bits,
                        train=kind.trains, in_parts=in_parts)  # fmt: skip
    head = room * 4 * tail.tensor(f"{context.graph.nodes[-1].name}.weights").shape[1] + room * 8
    one = backbone.tensor("latents").sample_bytes
    samples = classes * settings.memory_per_class if kind.stores_samples else 0
    items = [
        *_of("backbone", backbone), *_of("tail", tail),
        Item(RAM, "tail", "sums of a sample", minibatch_parts.work_bytes(tail) if in_parts else 0),
        Item(RAM, "head", "consolidated weights and counts", head),
        Item(RAM, "memory", f"{samples} samples of {one} bytes", samples * one),
        Item(RAM, "memory", "their numbers", samples * OF_A_SAMPLE),
    ]  # fmt: skip
    learned = sum(tensor.bytes(1) for tensor in tail.tensors if tensor.region == "parameter")
    stored = samples * (one + OF_A_SAMPLE) + (16 * classes if samples else 0)
    programs = {"backbone": backbone, "tail": tail}
    passes = 2 if in_parts else 1  # exponents are measured first, then sums are added up
    return _plan(context, classes, items, learned + head + stored, programs, "tail", passes)


def _exact(context: StrategyContext, classes: int) -> Plan:
    settings = context.settings
    assert isinstance(settings.bits, Bits)
    layers, projection = projections.resolve(
        context.model, settings.feature_layers, settings.n_components, settings.projection
    )
    network = compile_features(context.graph, layers, settings.bits, AT_ONCE, projection)
    feature_layers = sum(part_lengths(network))
    each = width(0).itemsize
    products, sums = each * feature_layers * (feature_layers + 1) // 2, classes * (each * feature_layers + 8)
    by_class = classes * products if settings.exact_forget else 0
    items = [
        *_of("network", network),
        Item(RAM, "sums", f"products of {feature_layers} numbers", products),
        Item(RAM, "sums", "of the classes, and their counts", sums),
        Item(RAM, "sums", "products of each class", by_class),
        Item(RAM, "answers", "the discriminant", classes * (4 * feature_layers + 8)),
        Item(RAM, "answers", "the factor of the covariance", factor_bytes(feature_layers)),
        Item(RAM, "answers", "to make it anew", native_sums.solve_bytes(feature_layers, classes)),
    ]
    return _plan(context, classes, items, products + sums + by_class, {"network": network}, None)


def _tried(context: StrategyContext, classes: int) -> Plan:
    """Of another strategy nothing is known beforehand: it is made, learns one random picture a class, and says itself
    what it takes (`footprint`), and what is learned and kept."""
    strategy = STRATEGIES[context.settings.strategy].on(context)
    learner = Learner(strategy, context.model)
    side = strategy.side
    images = np.random.default_rng(0).integers(0, 256, (min(classes, AT_ONCE), side, side, 3), dtype=np.uint8)
    strategy.encode(images)
    start = time.perf_counter()
    latents = strategy.encode(images)
    seconds = (time.perf_counter() - start) / len(images)
    learner.learn_encoded(np.resize(latents, (classes, *latents.shape[1:])), np.arange(classes))
    items = tuple(
        Item(RAM, strategy.name, what.replace("_", " "), count) for what, count in strategy.footprint().items()
    )
    return Plan(
        context.model.name, side, context.settings, classes, items, learner.state().bytes,
        context.model.path.stat().st_size, {}, {}, speed.instruction_set(), seconds, 0.0,
    )  # fmt: skip


def _of(part: str, program: Program) -> Iterable[Item]:
    """The bytes of a program; those of latent weights apart."""
    taken = native.footprint(program)
    latent = sum(t.bytes(1) for t in program.tensors if t.region == "parameter" and t.name.endswith(".latent"))
    tables = taken.image - len(program.parameters) - len(program.constants)
    yield Item(FLASH, part, "frozen weights and other constants", len(program.constants))
    yield Item(FLASH, part, "first values of what learns", len(program.parameters))
    yield Item(FLASH, part, "tables of the program", tables)
    yield Item(RAM, part, "tables, decoded", taken.tables)
    yield Item(RAM, part, "weights in the kernels' order", taken.packed_weights)
    yield Item(RAM, part, "what learns", taken.parameters - latent)
    if latent:
        yield Item(RAM, part, "latent weights", latent)
    yield Item(RAM, part, "arena", taken.arena)
    yield Item(RAM, part, "scratch", taken.scratch)


def _plan(
    context: StrategyContext,
    classes: int,
    items: list[Item],
    state: int,
    programs: dict[str, Program],
    learns: str | None,
    passes: int = 1,
) -> Plan:
    path = speed.instruction_set()
    done = {
        part: work.of(program, ("forward", "backward", "update", "prepare") if part == learns else ("forward",))
        for part, program in programs.items()
    }
    frozen = next(iter(programs))
    step = speed.seconds(done[learns], path) * passes * context.settings.minibatch_size if learns else 0.0
    return Plan(
        context.model.name, context.graph.input_shape[0], context.settings, classes, tuple(items), state,
        context.model.path.stat().st_size,
        {part: high_water(program) for part, program in programs.items()}, done, path,
        speed.seconds(done[frozen], path), step,
    )  # fmt: skip
