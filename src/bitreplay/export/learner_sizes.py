"""How much memory a learner in C needs, before it runs: core/include/bitreplay_learner.h, br_learner_plan."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from bitreplay.core import library
from bitreplay.core.interface import br_learner_memory, br_learner_options
from bitreplay.engine.aligned import aligned


@dataclass(frozen=True)
class Sizes:
    """Bytes of RAM; the model itself is `flash`, read where it lies."""

    flash: int
    network: int
    state: int
    answers: int
    work: int

    @property
    def total(self) -> int:
        return self.network + self.state + self.answers + self.work


def sizes_of(image: bytes, classes: int, in_place: int = 0) -> Sizes:
    """For a learner with room for this many classes. `in_place` is the size of rearranged weights that the target does
    without, because its kernels read them in flash. Pointers of 32 bits need a little less than this."""
    model, memory = aligned(np.frombuffer(image, np.uint8)), br_learner_memory()
    options, error = br_learner_options(classes=classes), ctypes.create_string_buffer(256)
    failed = library().br_learner_plan(model.ctypes.data, len(image), options, memory, error, len(error))
    if failed:
        raise ValueError(f"The model cannot be opened by the learner in C: {error.value.decode()}.")
    return Sizes(len(image), memory.network - in_place, memory.state, memory.answers, memory.work)
