"""A small graph around a layer, compiled as a tail, with one minibatch to feed it.

    level -> before -> the given nodes -> pool -> head

`before` is a BatchNorm that learns and changes nothing at first, so that gradients are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.arithmetic.quant import SIGNIFICANT
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import Builder, Gradient
from bitreplay.engine.compile import emit_tail
from bitreplay.engine.graph import Fixed, Graph, Node
from bitreplay.engine.operations import Run
from bitreplay.engine.program import Program
from bitreplay.engine.reference import ReferenceMachine

STEP = ("forward", "backward", "update", "prepare")
CLASSES = 4
ONE = 28

Range = tuple[Fraction, Fraction]


class CheckError(AssertionError):
    """A layer that does not hold what it must."""


def need(condition: bool, sentence: str) -> None:
    if not condition:
        raise CheckError(sentence)


def small_graph(
    nodes: list[Node],
    shape: tuple[int, int, int],
    ranges: dict[str, Range],
    spread: Range = (Fraction(-2), Fraction(2)),
) -> Graph:
    """The nodes read `before` (or `replay_layer`), which take values in `spread`; what the last yields is pooled."""
    one, zero = np.full(shape[2], 1 << ONE, np.int32), np.zeros(shape[2], np.int32)
    unit = {"gamma": one, "beta": zero, "mean": zero, "inverse_sigma": one}
    before = Node("before", "batchnorm", ("level",), {}, {name: Fixed(values, ONE) for name, values in unit.items()})
    last = nodes[-1].name if nodes else "before"
    ends = [Node("pool", "average_pool", (last,)), Node("head", "dense", ("pool",))]
    known = {"level": spread, "before": spread} | ranges
    return Graph(
        (1, 1, 1), [Node("level", "image", ()), before, *nodes, *ends], known | {"pool": known[last]}, {"level": shape}
    )


def random_head(shape: tuple[int, ...], seed: int = 0) -> NDArray[np.int32]:
    """Masters of the head between -1 and 1, the bias last. A compiled tail starts with zeros that pass no gradient."""
    return np.random.default_rng([seed, 1]).integers(-(1 << ONE), 1 << ONE, shape).astype(np.int32)


class Watched(Builder):
    """A compiler that remembers the gradient that each node took."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.gradients: dict[str, Gradient] = {}

    def stored_gradient(self, name: str) -> Gradient | None:
        gradient = super().stored_gradient(name)
        if gradient is not None:
            self.gradients[name] = gradient
        return gradient


@dataclass
class Bench:
    builder: Watched
    program: Program
    codes: NDArray[np.uint64]
    labels: NDArray[np.int32]
    head: NDArray[np.int32]

    @staticmethod
    def build(graph: Graph, bits: Bits, samples: int, seed: int = 0, *, keep: bool = True) -> Bench:
        rng = np.random.default_rng(seed)
        builder = Watched(graph, bits, samples, "tail", keep)
        emit_tail(builder, "level", CLASSES, bits.forward)
        program = builder.finish()
        half = 1 << (SIGNIFICANT[bits.forward] - 1)
        stored = rng.integers(-half, half, (samples, *graph.shapes["level"]))
        # Zeros and both ends more often than chance would have it.
        chosen = rng.integers(0, 12, stored.shape)
        for number, value in enumerate((builder.activation("level").zero, -half, half - 1)):
            stored = np.where(chosen == number, value, stored)
        planes = [pack(((stored + half) >> plane) & 1) for plane in range(bits.forward)]
        labels = rng.integers(0, CLASSES, samples).astype(np.int32)
        head = random_head(program.tensor("head.weights").shape, seed)
        return Bench(builder, program, np.concatenate(planes, axis=-1), labels, head)

    @property
    def samples(self) -> int:
        return len(self.labels)

    def machine(self, program: Program | None = None, fill: int = 0) -> ReferenceMachine:
        """A machine that is fed; its arena held `fill` in every byte before."""
        machine = ReferenceMachine(program or self.program)
        machine.regions["arena"][...] = fill
        for tensor in machine.program.tensors:
            if tensor.name.endswith(".saturated"):
                machine.write(tensor.name, np.zeros(1, np.int64))
        machine.write("latents", self.codes)
        machine.write("labels", self.labels)
        machine.write("head.weights", self.head)
        machine.run("prepare", Run(1))
        return machine

    def run(self, rate_shift: int = 36, rate: int = 1 << 30) -> Run:
        """Arguments with the learning rate rate / 2^rate_shift."""
        return Run(self.samples, 3, 1, rate, rate_shift)

    def step(self, machine: ReferenceMachine, run: Run) -> ReferenceMachine:
        for name in STEP:
            machine.run(name, run)
        return machine
