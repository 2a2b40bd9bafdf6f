"""Our side of the comparisons: programs compiled from the shipped models, and what one call of each does."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from bitreplay import zoo
from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail, compile_whole
from bitreplay.engine.graph import Graph
from bitreplay.engine.native import NativeMachine
from bitreplay.engine.operations import Run
from bitreplay.engine.program import Program
from bitreplay.modelfile.input_sizes import at_size

REPLAY_LAYER, CLASSES = "add_12", 10
RATE = Multiplier.of(Fraction(1, 100))
LABELS, FIRST_STEPS = 64, 3


@cache
def bireal18() -> Graph:
    return zoo.find("bireal18@1").graph


def quicknet(size: int) -> Graph:
    """The first generation of QuickNet, for images of `size`."""
    return at_size(zoo.find("quicknet@1").graph, size)


def backbone_forward(graph: Graph, replay_layer: str, bits: Bits) -> Callable[[], object]:
    """One uint8 image -> latents, with the copies in and out."""
    machine = NativeMachine(compile_backbone(graph, replay_layer, bits, 1), 1)
    image = np.random.default_rng(0).integers(0, 256, (1, *graph.input_shape), dtype=np.uint8)

    def work() -> object:
        machine.write("images", image)
        machine.run("forward", Run(1))
        return machine.read("latents")

    return work


def whole_forward(graph: Graph, bits: Bits) -> Callable[[], object]:
    """One uint8 image -> logits, with the copies in and out."""
    machine = NativeMachine(compile_whole(graph, bits, 1), 1)
    image = np.random.default_rng(0).integers(0, 256, (1, *graph.input_shape), dtype=np.uint8)
    output = graph.nodes[-1].name if machine.program.has(graph.nodes[-1].name) else "logits"

    def work() -> object:
        machine.write("images", image)
        machine.run("forward", Run(1))
        return machine.read(output)

    return work


def tail_program(graph: Graph, replay_layer: str, bits: Bits, minibatch: int) -> Program:
    return compile_tail(graph, replay_layer, bits, minibatch, CLASSES)


def tail_step(
    program: Program, minibatch: int, threads: int = 1, *, rate: Multiplier = RATE, steps: int = 1
) -> Callable[[], object]:
    """Latents and labels -> forward, backward, update; with the copies in.

    Labels are drawn anew for every step: samples that were learned by heart have no gradient, and cost less. Where
    weights learn, time depends on how many of them can change; a call of several `steps` starts from the same
    parameters each time, so that all calls do the same work.
    """
    machine = NativeMachine(program, threads)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 1 << 64, (minibatch, *program.tensor("latents").shape), np.uint64)
    labels = rng.integers(0, CLASSES, (LABELS, minibatch)).astype(np.int32)
    done = 0

    def step() -> None:
        nonlocal done
        machine.write("latents", codes)
        machine.write("labels", labels[done % LABELS])
        machine.run_step(Run(minibatch, 0, done, rate.mantissa, rate.shift))
        done += 1

    for _ in range(FIRST_STEPS):  # a head of zeros would let no gradient through
        step()
    if steps == 1:
        return step
    start = machine.regions["parameter"].copy()

    def work() -> None:
        nonlocal done
        machine.regions["parameter"][:] = start
        machine.run("prepare", Run(1))
        done = FIRST_STEPS
        for _ in range(steps):
            step()

    return work
