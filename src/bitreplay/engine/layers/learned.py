"""Learned real numbers: an int32 master, the operand that the layer computes with, and the step.

    operand = clip( round(master m / 2^s), -limit, limit )         after every update
    master  = master - stochastic( p 2^pe[at] rate / samples * m / 2^s )

Every layer with learned numbers per channel (RSign, RPReLU) uses these two operations.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Int64, Multiplier, round_shift, saturate, wide
from bitreplay.engine.arithmetic.sgd import descend
from bitreplay.engine.builder import Builder
from bitreplay.engine.graph import Fixed
from bitreplay.engine.layers.layer import need
from bitreplay.engine.operations import Run, operation

ROOM_BITS = 2


@operation("learned_operand", code=100, reads="master", writes="operand", attributes="mantissa shift limit")
def learned_operand(t: Any, a: Any, run: Run) -> None:
    t.operand[...] = operand_of(t.master, a.mantissa, a.shift, a.limit)


def operand_of(master: np.ndarray, mantissa: int, shift: int, limit: int) -> Int64:
    return saturate(round_shift(wide(master) * mantissa, shift), -limit, limit)


@operation("learned_update", code=101, reads="master p pe", writes="master", attributes="mantissa shift at number")
def learned_update(t: Any, a: Any, run: Run) -> None:
    t.master[...] = descend(t.master, t.p, int(t.pe[a.at]), a.mantissa, a.shift, run, a.number)


def with_room(fixed: Fixed) -> Fixed:
    """The same numbers with a coarser point if need be, so that they can grow 2^ROOM_BITS fold."""
    largest = int(np.abs(fixed.values.astype(np.int64)).max(initial=0))
    excess = max(largest.bit_length() - (31 - ROOM_BITS), 0)
    return Fixed(round_shift(wide(fixed.values), excess).astype(np.int32), fixed.shift - excess)


class LearnedNumbers:
    """One tensor of learned numbers in a layer: real value r, operand r * unit (an integer at most `limit`).

    Without `trains` the operand is a constant and there is no master.
    """

    def __init__(
        self, c: Builder, name: str, fixed: Fixed, unit: Fraction, limit: int, dtype: type, *, trains: bool
    ) -> None:  # fmt: skip
        self._name, self._unit, self._limit = name, unit, limit
        self._fixed = with_room(fixed) if trains else fixed
        scale = Multiplier.of(unit / Fraction(2) ** self._fixed.shift)
        need(scale.shift >= 0, f"{name}: numbers out of range")
        attributes = {"mantissa": scale.mantissa, "shift": scale.shift, "limit": limit}
        if not trains:
            self.operand = c.constant(name, operand_of(fixed.values, **attributes).astype(dtype))
            return
        self.master = c.parameter(name, self._fixed.values)
        self.operand = c.hold(c.buffer(f"{name}.op", dtype, fixed.values.shape, per_sample=False))
        c.emit("prepare", "learned_operand", {"master": self.master, "operand": self.operand}, **attributes)

    def emit_update(self, c: Builder, p: int, pe: int, factor: Fraction, at: int = 0) -> None:
        """The step along p: the derivative with respect to the real numbers is p 2^pe[at] factor."""
        step = Multiplier.of(factor * Fraction(2) ** self._fixed.shift)
        c.emit("update", "learned_update", {"master": self.master, "p": p, "pe": pe}, mantissa=step.mantissa,
               shift=step.shift, at=at, number=self.master)  # fmt: skip
