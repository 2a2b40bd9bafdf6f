"""The functions of method.py in the core, the same integers; the reference where there is no core."""

from __future__ import annotations

from ctypes import byref, c_int64
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bitreplay.core import available
from bitreplay.core.interface import BR_OK
from bitreplay.engine import method
from bitreplay.engine.arithmetic.fixedpoint import Int64, Multiplier

_32, _64 = (1 << 32) - 1, (1 << 64) - 1


def slots(seed: int, c: int, seen: int, held: int, room: int, offered: int) -> Int64:
    core = available()
    if core is None:
        return method.slots(seed, c, seen, held, room, offered)
    room = min(room, _32)
    places = (core.br_reservoir_slot(seed & _64, c, seen + k, min(held + k, room), room) for k in range(offered))
    return np.fromiter(places, np.int64, offered)


def drawn(seed: int, draw: int, stored: int, count: int) -> Int64:
    core = available()
    if core is None:
        return method.drawn(seed, draw, stored, count)
    memory = np.empty(3 * count, np.uint32)
    exchanged, picked = memory[: 2 * count], memory[2 * count :]
    failed = core.br_draw(seed & _64, draw, stored, count, exchanged.ctypes.data, picked.ctypes.data)
    assert failed == BR_OK, failed
    return picked.astype(np.int64)


def epochs(samples: int, batch_size: int, epochs: int, min_steps: int) -> int:
    core = available()
    return int((method.epochs if core is None else core.br_epochs)(samples, batch_size, epochs, min_steps))


def replayed(fresh: int, batch_size: int, replay_batch_size: int) -> int:
    core = available()
    return int((method.replayed if core is None else core.br_replayed)(fresh, batch_size, replay_batch_size))


def epoch_order(seed: int, experience: int, epoch: int, samples: int) -> Int64:
    core = available()
    if core is None:
        return method.epoch_order(seed, experience, epoch, samples)
    keys = np.empty(samples, np.uint64)
    failed = core.br_epoch_order(seed & _64, experience, epoch, samples, keys.ctypes.data)
    assert failed == BR_OK, failed
    return (keys & np.uint64(_32)).astype(np.int64)


def consolidate(cw: NDArray[np.int32], tw: NDArray[np.int32], past: Int64, present: Int64) -> None:
    core = available()
    if core is None:
        return method.consolidate(cw, tw, past, present)
    tw, present = np.ascontiguousarray(tw), np.ascontiguousarray(present, np.int64)
    assert cw.flags.c_contiguous and past.flags.c_contiguous
    places = (array.ctypes.data for array in (cw, tw, past, present))
    failed = core.br_consolidate(*places, *cw.shape)
    assert failed == BR_OK, failed


def rate(base: Fraction, kind: int, done: int, steps: int) -> Multiplier:
    """Fractions that are too long for the core are left to the reference."""
    core, text = available(), str(base).encode()
    mantissa, shift = c_int64(), c_int64()
    if core is None or core.br_rate(text, len(text), kind, done, steps, byref(mantissa), byref(shift)) != BR_OK:
        return Multiplier.of(method.rate(base, kind, done, steps))
    return Multiplier(mantissa.value, shift.value)
