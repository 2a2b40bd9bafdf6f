"""How much memory a learner in C needs, before it runs: core/include/bitreplay_learner.h, br_learner_plan."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass

import numpy as np

from bitreplay.engine import native
from bitreplay.engine.aligned import aligned


class _Options(ctypes.Structure):
    _fields_ = [
        (name, c_uint32) for name in ("classes", "name_bytes", "marks", "wide", "settings_bytes", "factor", "pictures")
    ]


class _Memory(ctypes.Structure):
    _fields_ = [(name, c_size_t) for name in ("total", "network", "state", "answers", "work")]


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
    plan = native.library().br_learner_plan
    plan.restype, plan.argtypes = c_int, [c_void_p, c_size_t, c_void_p, c_void_p, c_char_p, c_size_t]
    model, options, memory = aligned(np.frombuffer(image, np.uint8)), _Options(classes=classes), _Memory()
    error = ctypes.create_string_buffer(256)
    failed = plan(model.ctypes.data, len(image), byref(options), byref(memory), error, len(error))
    if failed:
        raise ValueError(f"The model cannot be opened by the learner in C: {error.value.decode()}.")
    return Sizes(len(image), memory.network - in_place, memory.state, memory.answers, memory.work)
