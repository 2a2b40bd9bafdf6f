"""A minibatch in parts ends in the bits of the whole: on every path, in the reference, for random nets and sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bitreplay import zoo
from bitreplay.engine import minibatch_parts, native
from bitreplay.engine.arithmetic.fixedpoint import round_shift
from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.arithmetic.quant import NO_GRADIENT, merge_samples
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail
from bitreplay.engine.graph import Graph
from bitreplay.engine.program import Program, ProgramError
from tests.engine import networks

Machine = native.NativeMachine | native.SlowMachine
Minibatch = tuple[NDArray[np.uint64], NDArray[np.int32]]
CLASSES = 5


def minibatch(program: Program, samples: int, seed: int) -> Minibatch:
    rng, (height, width, words) = np.random.default_rng(seed), program.tensor("latents").shape
    codes = pack(rng.random((samples, height, width, 64 * words)) < 0.5)
    return codes, rng.integers(0, CLASSES, samples).astype(np.int32)


def whole(machine: Machine, given: list[Minibatch]) -> Machine:
    for step, (codes, labels) in enumerate(given):
        fill(machine, codes, labels)
        machine.run_step(networks.run_of(len(labels), step))
    return machine


def in_parts(machine: Machine, given: list[Minibatch]) -> Machine:
    each = machine.program.max_samples
    for step, (codes, labels) in enumerate(given):
        run = networks.run_of(len(labels), step)
        parts = [slice(start, start + each) for start in range(0, len(labels), each)]
        machine.begin_parts()
        for part in parts:
            fill(machine, codes[part], labels[part])
            machine.measure(replace(run, samples=len(labels[part])))
        for part in parts:
            fill(machine, codes[part], labels[part])
            machine.gather(replace(run, samples=len(labels[part])), len(labels))
        machine.end_parts(run)
    return machine


def fill(machine: Machine, codes: NDArray[np.uint64], labels: NDArray[np.int32]) -> None:
    machine.write("latents", codes)
    machine.write("labels", labels)


def same(one: Machine, other: Machine) -> None:
    """Parameters, operands derived from them, and counts of saturated numbers."""
    assert np.array_equal(one.regions["parameter"], other.regions["parameter"])
    for tensor in one.program.tensors:
        if tensor.name.endswith(".saturated"):
            assert np.array_equal(one.read(tensor.name), other.read(tensor.name)), tensor.name


def programs(
    graph: Graph, replay_layer: str, samples: int, each: int, bits: Bits, **more: str
) -> tuple[Program, Program]:
    made = [
        compile_tail(graph, replay_layer, bits, count, CLASSES, in_parts=divided, **more)  # type: ignore[arg-type]
        for count, divided in ((samples, False), (each, True))
    ]
    return made[0], made[1]


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_random_nets_and_sizes_on_every_path(data):
    shape = (data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4)), data.draw(st.sampled_from([3, 40, 64, 70])))
    samples, each = data.draw(st.integers(2, 11)), data.draw(st.integers(1, 5))
    bits, seed = Bits(data.draw(st.sampled_from([8, 16])), 1, data.draw(st.sampled_from([8, 16, 32]))), 5
    graph = networks.tail_graph(shape, np.random.default_rng(samples), data.draw(st.integers(1, 2)))
    train = data.draw(st.sampled_from(["tail", "head"]))
    one, divided = programs(graph, networks.REPLAY_LAYER, samples, each, bits, train=train)
    given_ = [minibatch(one, data.draw(st.integers(1, samples)), seed + step) for step in range(3)]
    expected = whole(native.SlowMachine(one), given_)
    assert not np.array_equal(expected.regions["parameter"], one.parameters)
    same(in_parts(native.SlowMachine(divided), given_), expected)
    before = native.isa()
    try:
        for path in native.available_isas():
            native.set_isa(path)
            same(in_parts(native.NativeMachine(divided), given_), expected)
    finally:
        native.set_isa(before)


@pytest.mark.parametrize("name", ["react18", "bireal18", "vgg_small", "quicknet", "react_tiny"])
def test_shipped_networks_on_every_path(name, record_property):
    """Every kind of layer that learns beside frozen convolutions: BatchNorm, RPReLU, RSign, PReLU, the head."""
    model, before = zoo.find(name), native.isa()
    one, divided = programs(model.graph, model.replay_layers[-1], 7, 3, Bits())
    given_ = [minibatch(one, samples, seed) for seed, samples in enumerate((7, 5, 1))]
    try:
        for path in native.available_isas():
            record_property("path", path)
            native.set_isa(path)
            same(in_parts(native.NativeMachine(divided), given_), whole(native.NativeMachine(one), given_))
            same(in_parts(native.NativeMachine(divided, 3), given_), whole(native.NativeMachine(one), given_))
    finally:
        native.set_isa(before)
    assert divided.arena_bytes < one.arena_bytes


def test_exponents_far_apart_are_rounded_as_in_the_whole():
    """Exponents that differ by up to 80 bits, and a sample without gradient: merge_samples of one and of all."""
    rng = np.random.default_rng(2)
    sums, exponents = rng.integers(-(1 << 40), 1 << 40, (8, 6)), rng.integers(-90, -10, 8)
    exponents[3] = NO_GRADIENT
    expected, common = merge_samples(sums, exponents, 41)
    singles = [merge_samples(sums[n : n + 1], exponents[n : n + 1], 41) for n in range(8)]
    top = max(own - 1 for _, own in singles if own > NO_GRADIENT)
    total = sum(round_shift(one, top + (8).bit_length() - own) for one, own in singles if own > NO_GRADIENT)
    assert common == top + (8).bit_length() and np.array_equal(total, expected)


@pytest.mark.parametrize("bits", [Bits(8, 8, 16), Bits(8, 4, 16)])
def test_weights_that_learn_in_the_backward_pass_are_refused(bits):
    graph = networks.tail_graph((2, 2, 40), np.random.default_rng(1))
    with pytest.raises(ProgramError, match="micro-batches need frozen convolutions"):
        compile_tail(graph, networks.REPLAY_LAYER, bits, 4, CLASSES, in_parts=True)
    machine = native.NativeMachine(compile_tail(graph, networks.REPLAY_LAYER, bits, 4, CLASSES))
    with pytest.raises(ValueError, match="an argument is null or out of range"):
        machine.begin_parts()


def test_a_program_that_was_not_compiled_for_it_is_refused():
    machine = native.NativeMachine(networks.tail((3, 3, 40), Bits(), 4))
    for call in (
        machine.begin_parts,
        lambda: machine.measure(networks.run_of(4, 0)),
        lambda: machine.gather(networks.run_of(4, 0), 8),
        lambda: machine.end_parts(networks.run_of(8, 0)),
    ):
        with pytest.raises(ValueError, match="an argument is null or out of range"):
            call()


@pytest.mark.parametrize("samples, size", [(0, 8), (5, 8), (4, 0), (4, (1 << 20) + 1)])
def test_sizes_out_of_range_are_refused(samples, size):
    graph = networks.tail_graph((3, 3, 40), np.random.default_rng(0))
    machine = native.NativeMachine(programs(graph, networks.REPLAY_LAYER, 8, 4, Bits())[1])
    machine.begin_parts()
    with pytest.raises(ValueError, match="an argument is null or out of range"):
        machine.gather(networks.run_of(samples, 0), size)


@pytest.mark.parametrize("name", ["react18", "quicknet"])
def test_the_core_asks_for_the_work_that_python_counts(name):
    model = zoo.find(name)
    program = programs(model.graph, model.replay_layers[-1], 8, 2, Bits())[1]
    machine = native.NativeMachine(program)
    assert len(machine._work) == minibatch_parts.work_bytes(program) > 0
