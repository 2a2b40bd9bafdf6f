"""What a strategy needs of a machine: bytes of flash and RAM by part, bytes of its state, the programs that it runs.

Flash holds what never changes, RAM the rest (planning/plan.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bitreplay.engine import native
from bitreplay.engine.footprint import Footprint
from bitreplay.engine.program import Program

FLASH, RAM = "flash", "ram"
FROZEN_BATCH = 8  # images that the frozen network takes at a time (parts/backbone.py, parts/feature_extractor.py)
LEARNED = "what learns"
LATENT_WEIGHTS = "latent weights"


@dataclass(frozen=True)
class Item:
    """Bytes of flash or RAM (`where`) that a part of the learner needs, and what for."""

    where: str
    part: str
    what: str
    bytes: int


@dataclass(frozen=True)
class Requirements:
    """`state` is the size of what is learned, without the header of its file. `programs` are by part, the frozen
    network first; `trained` is the part that learns, in `passes` passes over each minibatch."""

    items: tuple[Item, ...]
    state: int
    programs: Mapping[str, Program]
    trained: str | None = None
    passes: int = 1


@dataclass(frozen=True)
class DevicePrograms:
    """What a learner in C runs: programs by their sections of the model file, and further sections."""

    programs: Mapping[str, Program]
    texts: Mapping[str, bytes]


def program_items(part: str, program: Program) -> Iterable[Item]:
    """The bytes that a program needs."""
    footprint = native.footprint(program)
    latent = sum(t.bytes(1) for t in program.tensors if t.region == "parameter" and t.name.endswith(".latent"))
    tables = footprint.image - len(program.parameters) - len(program.constants)
    yield Item(FLASH, part, "frozen weights and other constants", len(program.constants))
    yield Item(FLASH, part, "first values of what learns", len(program.parameters))
    yield Item(FLASH, part, "tables of the program", tables)
    yield Item(RAM, part, "tables, decoded", footprint.tables)
    yield Item(RAM, part, "weights in the kernels' order", footprint.packed_weights)
    yield Item(RAM, part, LEARNED, footprint.parameters - latent)
    if latent:
        yield Item(RAM, part, LATENT_WEIGHTS, latent)
    yield Item(RAM, part, "arena", footprint.arena)
    yield Item(RAM, part, "scratch", footprint.scratch)


def used_by_program(part: str, footprint: Footprint) -> dict[tuple[str, str], int]:
    """RAM that a program uses, as `program_items` names it; what learns includes latent weights."""
    return {
        (part, "tables, decoded"): footprint.tables,
        (part, "weights in the kernels' order"): footprint.packed_weights,
        (part, LEARNED): footprint.parameters,
        (part, "arena"): footprint.arena,
        (part, "scratch"): footprint.scratch,
    }
