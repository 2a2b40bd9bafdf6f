"""What a learner will need: flash, RAM, the state file, work and time.

Nothing is run, programs are only compiled; but a strategy that cannot say what it will need is tried.

    plan(zoo.find("bireal18"), Settings(strategy="replay"), classes=10).ram

Flash holds what never changes: the programs with their constants and first parameters. RAM holds the rest: tables as
they are decoded, weights in the kernels' order, what learns, arenas, and what is kept of pictures. A process that has
no flash to read from holds the programs too.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bitreplay.arguments import as_integer, short_repr
from bitreplay.engine import native_method
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.program import ProgramError
from bitreplay.fleet.message import most_bytes
from bitreplay.learner import Learner
from bitreplay.lifecycle import assembly
from bitreplay.modelfile import ModelFileError
from bitreplay.planning import speed, work
from bitreplay.planning.high_water import HighWater, high_water
from bitreplay.settings import Settings
from bitreplay.strategies import STRATEGIES, StrategyContext
from bitreplay.strategies.requirements import FLASH, FROZEN_BATCH, RAM, Item, Requirements
from bitreplay.zoo import Model

MAX_CLASSES = 1 << 20


@dataclass(frozen=True)
class Plan:
    """`state` is the size of what is learned, without the header of its file. Work and times are estimates.
    `picture_instructions` are those of a core without vectors (on_device.py), 0 for others."""

    model: str
    size: int
    settings: Settings
    classes: int
    items: tuple[Item, ...]
    state: int
    model_file: int
    peaks: dict[str, HighWater]
    work: dict[str, Counter[str]]
    instruction_set: str
    picture_seconds: float
    step_seconds: float
    picture_instructions: int = 0

    def bytes_in(self, where: str) -> int:
        return sum(item.bytes for item in self.items if item.where == where)

    @property
    def flash(self) -> int:
        return self.bytes_in(FLASH)

    @property
    def ram(self) -> int:
        return self.bytes_in(RAM)

    @property
    def message(self) -> int | None:
        """Bytes that a device of a fleet sends at most for all that it learned since the base (bitreplay.fleet)."""
        return most_bytes(self.state) if STRATEGIES[self.settings.strategy].merges else None

    def experience_seconds(self, pictures: int) -> float:
        """The time to learn new images: each passes the frozen network once, then the steps of all epochs."""
        if not self.step_seconds:
            return pictures * self.picture_seconds
        size = self.settings.batch_size
        epochs = native_method.epochs(pictures, size, self.settings.epochs, self.settings.min_steps)
        return pictures * self.picture_seconds + epochs * -(-pictures // size) * self.step_seconds

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model, "size": self.size, "strategy": self.settings.strategy, "bits": str(self.settings.bits),
            "classes": self.classes, "flash": self.flash, "ram": self.ram, "state": self.state,
            "message": self.message,
            "model_file": self.model_file, "items": [asdict(item) for item in self.items],
            "most_of_the_arena": {part: asdict(value) for part, value in self.peaks.items()},
            "work": {part: dict(value) for part, value in self.work.items()},
            "instruction_set": self.instruction_set, "picture_seconds": self.picture_seconds,
            "step_seconds": self.step_seconds, "picture_instructions": self.picture_instructions,
        }  # fmt: skip


def plan(model: Model, settings: Settings, classes: int) -> Plan:
    """What a learner of this many classes will need, with its memory full."""
    count = as_integer(classes)
    if count is None or not 1 <= count <= MAX_CLASSES:
        raise ValueError(f"classes must be an integer from 1 to {MAX_CLASSES}, got {short_repr(classes)}.")
    if not isinstance(settings.bits, Bits):
        raise ValueError("A plan counts integer arithmetic, got bits float.")
    context = assembly.context_of(model, settings)
    try:
        needed = STRATEGIES[settings.strategy].requirements(context, count)
        return _tried(context, count) if needed is None else _counted(context, count, needed)
    except ProgramError as error:
        usage = STRATEGIES[settings.strategy].usage(context)
        raise ModelFileError(f"{model.path} cannot be used {usage}: {error}.") from None


def _counted(context: StrategyContext, classes: int, needed: Requirements) -> Plan:
    isa = speed.instruction_set()
    counts = {
        part: work.count(
            program, ("forward", "backward", "update", "prepare") if part == needed.trained else ("forward",)
        )
        for part, program in needed.programs.items()
    }
    frozen = next(iter(needed.programs))
    step = 0.0
    if needed.trained is not None:
        step = speed.seconds(counts[needed.trained], isa) * needed.passes * context.settings.minibatch_size
    return Plan(
        context.model.name, context.graph.input_shape[0], context.settings, classes, needed.items, needed.state,
        context.model.path.stat().st_size,
        {part: high_water(program) for part, program in needed.programs.items()}, counts, isa,
        speed.seconds(counts[frozen], isa), step,
    )  # fmt: skip


def _tried(context: StrategyContext, classes: int) -> Plan:
    """The strategy is made and learns one random image per class; then it says what it uses (`footprint`)."""
    strategy = STRATEGIES[context.settings.strategy].on(context)
    learner = Learner(strategy, context.model)
    side = strategy.side
    images = np.random.default_rng(0).integers(0, 256, (min(classes, FROZEN_BATCH), side, side, 3), dtype=np.uint8)
    strategy.encode(images)
    start = time.perf_counter()
    latents = strategy.encode(images)
    seconds = (time.perf_counter() - start) / len(images)
    learner.learn_encoded(np.resize(latents, (classes, *latents.shape[1:])), np.arange(classes))
    items = tuple(Item(RAM, part, purpose, count) for (part, purpose), count in strategy.memory_items().items())
    return Plan(
        context.model.name, side, context.settings, classes, items, learner.state().bytes,
        context.model.path.stat().st_size, {}, {}, speed.instruction_set(), seconds, 0.0,
    )  # fmt: skip
