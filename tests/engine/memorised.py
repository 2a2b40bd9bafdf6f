"""Tails that have memorised some samples: what gradients look like late in training, when a few hard samples dominate.

A Memorised holds a graph with the learned numbers, codes and labels of 160 samples: 128 that the tail knows (p > 0.99)
and 32 that it has never seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bitreplay.data.pictures.resize import resize
from bitreplay.engine import native
from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.graph import Fixed, Graph, Node
from bitreplay.engine.operations import Run
from bitreplay.engine.reference import Memory
from tests.engine import networks

KNOWN, NEW, CLASSES = 128, 32, 10
FORWARD = 8


@dataclass(frozen=True)
class Memorised:
    graph: Graph
    replay_layer: str
    head: NDArray[np.int32]
    codes: NDArray[np.uint64]
    labels: NDArray[np.int32]

    def machine(self, backward_bits: int, samples: NDArray[np.int64]) -> native.NativeMachine | native.SlowMachine:
        """After forward and backward of the chosen samples; every tensor can be read."""
        bits = Bits(FORWARD, 1, backward_bits)
        program = compile_tail(self.graph, self.replay_layer, bits, len(samples), CLASSES, keep=True)
        machine = native.machine(program)
        machine.write("head.weights", self.head)
        machine.write("latents", self.codes[samples])
        machine.write("labels", self.labels[samples])
        for name in ("prepare", "forward", "backward"):
            machine.run(name, Run(len(samples)))
        return machine


def random_tail(channels: int, seed: int = 0) -> Memorised:
    """A Bi-Real-like tail of random numbers at 4x4. A class is a pattern with a tenth of its bits flipped; new samples
    show another class than their own."""
    rng = np.random.default_rng(seed)
    graph = networks.tail_graph((4, 4, channels), rng)
    labels = rng.integers(0, CLASSES, KNOWN + NEW + 32).astype(np.int32)
    patterns = rng.random((CLASSES, 4, 4, channels)) < rng.random((CLASSES, 1, 1, channels))
    shown = labels.copy()
    shown[-NEW:] = (labels[-NEW:] + 1) % CLASSES
    codes = pack(patterns[shown] ^ (rng.random((len(labels), 4, 4, channels)) < 0.1))
    return memorise(graph, networks.REPLAY_LAYER, codes, labels, [(Fraction(1, 2), 50), (Fraction(1), 100)])


def real_tail(graph: Graph, replay_layer: str, pictures: list[NDArray[np.uint8]]) -> Memorised:
    """A trained network on patches of photographs: a class is a place in a picture, the new samples lie elsewhere."""
    assert graph.input_shape == (32, 32, 3)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, KNOWN + NEW + 32).astype(np.int32)
    new = np.arange(len(labels)) >= len(labels) - NEW
    images = []
    for label, other in zip(labels.tolist(), new.tolist(), strict=True):
        side, (row, column) = int(rng.integers(72, 81)), rng.integers(-8, 9, 2).tolist()
        top, left = (260 if other else 150) + row, 60 + 95 * (label % 5) + column
        images.append(resize(pictures[label // 5][top : top + side, left : left + side], 32))
    machine = native.machine(compile_backbone(graph, replay_layer, Bits(FORWARD), 32))
    codes = []
    for start in range(0, len(images), 32):
        part = np.stack(images[start : start + 32])
        machine.write("images", part)
        machine.run("forward", Run(len(part)))
        codes.append(machine.read("latents", len(part)))
    return memorise(graph, replay_layer, np.concatenate(codes), labels, [(Fraction(1, 4), 10), (Fraction(1), 30)])


def memorise(
    graph: Graph,
    replay_layer: str,
    codes: NDArray[np.uint64],
    labels: NDArray[np.int32],
    rates: list[tuple[Fraction, int]],
) -> Memorised:
    """Train on all but the last 32 samples; keep the 128 that are known best."""
    count = len(codes) - NEW
    machine = native.machine(compile_tail(graph, replay_layer, Bits(FORWARD, 1, 16), count, CLASSES))
    machine.write("latents", codes[:count])
    machine.write("labels", labels[:count])
    steps = [Multiplier.of(rate) for rate, times in rates for _ in range(times)]
    for step, rate in enumerate(steps):
        machine.run_step(Run(count, 1, step, rate.mantissa, rate.shift))
    machine.run("forward", Run(count))
    machine.run("backward", Run(count))
    known = machine.read("p_label", count)
    best = np.argsort(-known, kind="stable")[:KNOWN]
    assert known[best].min() > 0.99 * 2**30, f"the least known sample has p = {known[best].min() / 2**30}"
    chosen = np.concatenate([best, np.arange(count, len(codes))])
    nodes = [learned(node, machine) for node in graph.nodes]
    return Memorised(
        replace(graph, nodes=nodes), replay_layer, machine.read("head.weights"), codes[chosen], labels[chosen]
    )


def learned(node: Node, machine: Memory) -> Node:
    """The node with the machine's present gamma and beta."""
    if not machine.program.has(f"{node.name}.gamma"):
        return node
    arrays = dict(node.arrays)
    for name in ("gamma", "beta"):
        before = arrays[name]
        assert isinstance(before, Fixed)
        arrays[name] = Fixed(machine.read(f"{node.name}.{name}"), before.shift)
    return replace(node, arrays=arrays)
