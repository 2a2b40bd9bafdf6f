"""Values and gradients of one layer against its formula in float64.

The oracle is given what the layer was given: the real values of its stored inputs, and the stored gradient of its
output. So what differs is the arithmetic of this layer alone. The gradients of parameters are read off the masters: a
step with a rate that moves them by some 2^24 units, compared in direction; the length must fit a unit that is a power
of two, as every master has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.packing import signs
from bitreplay.engine.checks.bench import Bench, need
from bitreplay.engine.checks.runs import inputs, output
from bitreplay.engine.reference import ReferenceMachine

# 1 - cosine, by the bits of the stored gradients.
BARS = {8: Fraction(2, 10**3), 16: Fraction(1, 10**6), 32: Fraction(1, 10**9)}
LENGTH = Fraction(2, 100)
MOVES = range(1 << 22, 1 << 28)

Real = NDArray[Any]


@dataclass(frozen=True)
class Oracle:
    """A layer in float64. Arrays hold real values, samples first; signs are -1 and +1.

    forward(inputs) -> output
    backward(inputs, gradient of the output) -> (gradients of the inputs or None, {parameter: its gradient})
    A parameter has the program's name without the node's in front; its gradient is summed over samples. The output may
    differ by `slack` stored units. The loss is given labels as gradient.
    """

    forward: Callable[[list[Real]], Real]
    backward: Callable[[list[Real], Real], tuple[list[Real | None], dict[str, Real]]]
    slack: Fraction = Fraction(1, 2) + Fraction(1, 1 << 10)


def units(bench: Bench, name: str) -> Real:
    """The real value of one stored unit, per channel (host only)."""
    value = bench.builder.values[name]
    if value.scales is None and value.activation is None:
        return np.full(value.shape[2], 2.0**-16 if name == "head" else 1.0)
    return np.array([float(scale) for scale in value.channel_scales])


def real(bench: Bench, machine: ReferenceMachine, name: str) -> Real:
    """What a node yields, as real numbers (host only)."""
    value, stored = bench.builder.values[name], output(bench, machine, name)
    if stored.dtype == np.uint64:
        return signs(stored, value.shape[2]).astype(np.float64)
    zero = value.activation.zero if value.activation else 0
    return (stored.astype(np.float64) - zero) * units(bench, name)


def gradient_of(bench: Bench, machine: ReferenceMachine, name: str) -> Real:
    """The derivative of each sample's loss by the real output of a node (host only)."""
    gradient = bench.builder.gradients[name]
    tensors = bench.builder.tensors
    stored = machine.read(tensors[gradient.tensor].name, bench.samples).astype(np.float64)
    exponents = machine.read(tensors[gradient.exponents].name, bench.samples)
    return np.ldexp(stored, exponents.reshape(-1, *[1] * (stored.ndim - 1))) / units(bench, name)


def check_values(bench: Bench, name: str, oracle: Oracle) -> None:
    """The output is the oracle's, rounded once (host only)."""
    if name == "loss":
        return
    machine = bench.machine()
    machine.run("forward", bench.run())
    found = real(bench, machine, name)
    expected = oracle.forward([real(bench, machine, source) for source in inputs(bench, name)])
    need(expected.shape == found.shape, f"{name}: yields {found.shape}, the oracle {expected.shape}")
    activation = bench.builder.values[name].activation
    if activation is not None:
        low, high = ((end - activation.zero) * float(activation.scale) for end in (activation.low, activation.high))
        expected = np.clip(expected, low, high)
    worst = float(np.abs((found - expected) / units(bench, name)).max())
    need(worst <= float(oracle.slack), f"{name}: differs from the oracle by {worst:.4f} units")


def check_gradients(bench: Bench, name: str, oracle: Oracle) -> None:
    """Gradients of inputs and parameters point where the oracle's do (host only)."""
    machine = bench.step(bench.machine(), bench.run(rate=0))
    sources = inputs(bench, name)
    values = [real(bench, machine, source) for source in sources]
    g = bench.labels if name == "loss" else gradient_of(bench, machine, name)
    for_inputs, for_parameters = oracle.backward(values, g)
    bar = BARS[bench.builder.bits.backward_other]
    for source, expected in zip(sources, for_inputs, strict=True):
        if expected is not None:
            found = gradient_of(bench, machine, source)
            compare(found, expected.reshape(found.shape), bar, f"{name}: the gradient of its input {source}")
    for parameter, expected in for_parameters.items():
        if not expected.any():
            continue
        moved, rate = movement(bench, f"{name}.{parameter}")
        scaled = moved * bench.samples / rate
        # The unit is a power of two: bring the length to the nearest.
        power = np.rint(np.log2(np.linalg.norm(scaled) / np.linalg.norm(expected)))
        compare(scaled * 2.0**-power, expected.reshape(moved.shape), bar, f"{name}: the gradient of {parameter}")


def movement(bench: Bench, parameter: str) -> tuple[Real, float]:
    """How far a step moves a master, and the rate of that step (host only)."""
    machine = bench.machine()
    start, before = machine.regions["parameter"].copy(), machine.read(parameter).astype(np.int64)
    rate_shift = 30
    for _ in range(40):
        machine.regions["parameter"][...] = start
        machine.run("prepare", bench.run())
        bench.step(machine, bench.run(rate_shift))
        moved = before - machine.read(parameter)
        largest = int(np.abs(moved).max())
        if largest in MOVES:
            return moved.astype(np.float64), 2.0 ** (30 - rate_shift)
        rate_shift += 4 if largest >= MOVES.stop else -4 if largest >= 1 << 12 else -10
    raise AssertionError(f"no learning rate moves {parameter}")


def compare(found: Real, expected: Real, bar: Fraction, what: str) -> None:
    """Direction and length (host only)."""
    if not expected.any():
        return need(not found.any(), f"{what} is not 0 as the oracle's")
    norms = float(np.linalg.norm(found)), float(np.linalg.norm(expected))
    need(norms[0] > 0, f"{what} is 0")
    # 1 - cosine from the difference of the unit vectors, exact for small angles.
    difference = found / norms[0] - expected / norms[1]
    turned = float((difference**2).sum() / 2)
    need(turned <= float(bar), f"{what} has a cosine of 1 - {turned:.2e}; 1 - {float(bar):.0e} is expected")
    ratio = norms[0] / norms[1]
    need(abs(ratio - 1) <= float(LENGTH), f"{what} is {ratio:.4f} times as long as the oracle's")
