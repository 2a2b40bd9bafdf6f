"""How much memory a replay learner in C takes, before it runs: core/include/bitreplay_learner.h, br_learner_plan."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

import numpy as np

from bitreplay.core import library
from bitreplay.core.interface import br_learner_memory, br_learner_options
from bitreplay.engine import native
from bitreplay.engine.aligned import aligned
from bitreplay.engine.program import Program


@dataclass(frozen=True)
class ReplaySizes:
    """Bytes of RAM; the model itself is `flash`, read where it lies."""

    flash: int
    network: int
    state: int
    experience: int
    work: int

    @property
    def total(self) -> int:
        return self.network + self.state + self.experience + self.work


def replay_sizes_of(
    image: bytes, programs: Mapping[str, Program], classes: int, samples: int, bare: bool = False
) -> ReplaySizes:
    """Of a learner with room for so many classes, and pictures of an experience. `bare`: for a device without vectors,
    whose forward pass reads binary weights where they lie. Pointers of 32 bits take a little less than this."""
    with _scalar() if bare else nullcontext():
        memory = _planned(image, classes, samples)
        in_place = sum(_derived_forward(programs[name]) for name in ("backbone", max(programs))) if bare else 0
    return ReplaySizes(len(image), memory.network - in_place, memory.state, memory.experience, memory.work)


def _planned(image: bytes, classes: int, samples: int) -> br_learner_memory:
    model, memory = aligned(np.frombuffer(image, np.uint8)), br_learner_memory()
    options, error = br_learner_options(classes=classes, samples=samples), ctypes.create_string_buffer(256)
    failed = library().br_learner_plan(model.ctypes.data, len(image), options, memory, error, len(error))
    if failed:
        raise ValueError(f"The model cannot be opened by the learner in C: {error.value.decode()}.")
    return memory


def _derived_forward(program: Program) -> int:
    """Rearranged weights of the forward pass."""
    forward = [record for record in program.records if record.list in ("prepare", "forward")]
    return native.footprint(replace(program, records=forward)).packed_weights


@contextmanager
def _scalar() -> Iterator[None]:
    before = native.isa()
    native.set_isa("scalar")
    try:
        yield
    finally:
        native.set_isa(before)
