"""The method in C, called from tests by ctypes: core/include/bitreplay_method.h."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.core.c_learner import check
from tests.core.c_learner import library as c_library

KINDS = ("given", "fitted", "fitted with flips")


def core() -> Any:
    library = c_library()
    library.br_reservoir_slot.restype = c_int64
    library.br_reservoir_slot.argtypes = [c_uint64, c_uint32, c_uint64, c_uint32, c_uint32]
    library.br_draw.argtypes = [c_uint64, c_uint64, c_uint32, c_uint32, c_void_p, c_void_p]
    library.br_epoch_order.argtypes = [c_uint64, c_uint64, c_uint64, c_uint32, c_void_p]
    library.br_consolidate.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_uint32]
    library.br_rate.argtypes = [c_char_p, c_size_t, c_int, c_uint64, c_uint64, c_void_p, c_void_p]
    return library


def consolidate(cw: Any, tw: Any, past: Any, present: Any) -> Any:
    weights, trained = np.array(cw, np.int32), np.array(tw, np.int32)
    before, now = np.array(past, np.int64), np.array(present, np.int64)
    places = [array.ctypes.data for array in (weights, trained, before, now)]
    check(core().br_consolidate(*places, *weights.shape))
    return [weights.tolist(), before.tolist()]


def draw(seed: int, number: int, stored: int, count: int) -> NDArray[np.uint32]:
    exchanged, picked = np.zeros(2 * count + 1, np.uint32), np.zeros(count + 1, np.uint32)
    check(core().br_draw(seed, number, stored, count, exchanged.ctypes.data, picked.ctypes.data))
    return picked[:count]


def reservoir(memory_per_class: int, seed: int, experiences: Any, draws: Any) -> Any:
    slots: dict[int, list[int]] = {}
    seen: dict[int, int] = {}
    for number, c in enumerate(label for labels in experiences for label in labels):
        held = slots.setdefault(c, [])
        place = core().br_reservoir_slot(seed, c, seen.get(c, 0), len(held), memory_per_class)
        seen[c] = seen.get(c, 0) + 1
        if place >= 0:
            held[place : place + 1] = [number]
    stored = [[c, number] for c in sorted(slots) for number in slots[c]]
    drawn = [[stored[at][1] for at in draw(seed, k, len(stored), count)] for k, count in enumerate(draws)]
    return [stored, drawn]


def minibatches(samples: int, size: int, seed: int, experience: int, epoch: int) -> Any:
    keys = np.zeros(samples + 1, np.uint64)
    check(core().br_epoch_order(seed, experience, epoch, samples, keys.ctypes.data))
    order = (keys[:samples] & np.uint64(0xFFFFFFFF)).tolist()
    return [order[start : start + size] for start in range(0, samples, size)]


def rate(fraction: Any, kind: str, done: int, steps: int) -> Any:
    top, bottom = fraction
    text, mantissa, shift = f"{top}/{bottom}".encode(), c_int64(), c_int64()
    check(core().br_rate(text, len(text), KINDS.index(kind), done, steps, byref(mantissa), byref(shift)))
    return [mantissa.value, shift.value]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "consolidate": consolidate,
    "reservoir": reservoir,
    "minibatches": minibatches,
    "rate": rate,
}
