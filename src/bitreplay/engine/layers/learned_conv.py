"""Integer weights that learn, for dense and depthwise convolutions: int32 masters and the operand of q_f bits.

    operand      w[o] = round(master[o] / 2^k[o]), the least k[o] >= 0 that holds the largest in q_f bits
    sums         round( sum (x - x_zero) w[o] * 2^(k[o] - down) )         in units of 2^down masters
    step         master = master - stochastic( sum g (x - x_zero) * constant * rate / samples )

The master's unit does not change, so neither does the scale of the sums, whatever the operand's exponents. A step is
taken while the backward pass runs, weight by weight, so that no gradient tensor is kept: within a minibatch nothing
reads a master after it has changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Int64, Multiplier, round_shift, wide
from bitreplay.engine.arithmetic.quant import SIGNIFICANT, STORAGE, quantise_samples
from bitreplay.engine.builder import Builder, Gradient, Value
from bitreplay.engine.graph import Fixed
from bitreplay.engine.layers.layer import need
from bitreplay.engine.layers.learned import ROOM_BITS
from bitreplay.engine.operations import Run, operation

MASTER_BITS = 31 - ROOM_BITS
LARGEST_SUM = (1 << 31) - 1


@operation("conv_operand", code=51, reads="weights", writes="operand exponents", attributes="bits")
def conv_operand(t: Any, a: Any, run: Run) -> None:
    t.operand[...], exponents = quantise_samples(wide(t.weights), np.zeros(len(t.weights), np.int64), a.bits)
    t.exponents[...] = np.maximum(exponents, 0)


def aligned_outputs(g: Int64, exponents: np.ndarray | None, room: int) -> tuple[Int64, int]:
    """Gradients of outputs with weights of different exponents -> (g 2^(exponents - common), common)."""
    if exponents is None:
        return g, 0
    top = int(exponents.max())
    return round_shift(g << room, top - wide(exponents)), top - room


def to_master(fixed: Fixed) -> Fixed:
    """The same numbers at the finest point that leaves room to grow 2^ROOM_BITS fold."""
    largest = max(int(np.abs(fixed.values.astype(np.int64)).max()), 1)
    up = MASTER_BITS - largest.bit_length()
    return Fixed(round_shift(wide(fixed.values), -up).astype(np.int32), fixed.shift + up)


@dataclass(frozen=True)
class LearnedWeights:
    """Masters and operand of one convolution; weights have the outputs first."""

    master: int
    operand: int
    exponents: int
    down: int
    bound: int
    point: int

    @staticmethod
    def place(c: Builder, name: str, fixed: Fixed, x_bound: int) -> LearnedWeights:
        master = to_master(fixed)
        outputs, terms = len(master.values), master.values[0].size
        sums = np.abs(master.values.astype(np.int64)).reshape(outputs, -1).sum(axis=1)
        bound = x_bound * max(int(sums.max()), 1) << ROOM_BITS
        # The second bound keeps an operand's sum inside 62 bits when every master has grown to the largest int32.
        down = max(bound.bit_length() - 31, (x_bound * terms).bit_length() + 31 - 62, 0)
        operand = c.hold(c.buffer(f"{name}.op", STORAGE[c.bits.forward], fixed.values.shape, per_sample=False))
        exponents = c.hold(c.buffer(f"{name}.ex", np.int32, (outputs,), per_sample=False))
        weights = c.parameter(name, master.values)
        c.emit("prepare", "conv_operand", {"weights": weights, "operand": operand, "exponents": exponents},
               bits=c.bits.forward)  # fmt: skip
        return LearnedWeights(weights, operand, exponents, down, min((bound >> down) + 1, LARGEST_SUM), master.shift)

    def unit(self, x_scale: Fraction) -> Fraction:
        """The real value of one unit of the sums."""
        return x_scale * Fraction(2) ** (self.down - self.point)

    def emit_update(
        self, c: Builder, operation_name: str, x: Value, gradient: Gradient, pixels: int, geometry: dict[str, int]
    ) -> None:
        """The step, in the backward list. A unit of the sums moves by (x - x_zero) 2^-down with a unit of a master."""
        assert x.activation is not None
        step = Multiplier.of(Fraction(2) ** (2 * self.point - self.down))
        bound = gradient.bound + (x.bound * pixels).bit_length()
        need(bound <= 62, f"{operation_name}: sums over {pixels} pixels must fit 62 bits")
        c.emit("backward", operation_name,
               {"weights": self.master, "g": gradient.tensor, "e": gradient.exponents, "x": x.tensor},
               x_zero=x.activation.zero, bound=bound,
               mantissa=step.mantissa, shift=step.shift, number=self.master, **geometry)  # fmt: skip


def input_grad_room(gradient: Gradient, bits: int, terms: int) -> int:
    """Bits by which gradients may be shifted left before sums of `terms` products with q_f-bit weights leave 62."""
    used = gradient.bound + SIGNIFICANT[bits] - 1 + terms.bit_length()
    need(used <= 62, "sums of the input gradient must fit 62 bits")
    return min(62 - used, 30)
