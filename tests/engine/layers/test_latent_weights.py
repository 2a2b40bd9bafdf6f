"""Latent weights: their bytes, their start, how they move, and that the native core moves them alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bitreplay.engine.arithmetic.packing import signs, unpack
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail
from bitreplay.engine.graph import Graph
from bitreplay.engine.layers.latent_weights import load_latent, store_latent
from bitreplay.engine.native import NativeMachine, SlowMachine, available_isas, set_isa
from bitreplay.engine.program import Program
from bitreplay.engine.reference import Memory
from tests.engine import networks

SHAPE, SAMPLES, STEPS = (3, 4, 70), 4, 12
WIDTHS = [4, 8, 16, 32]


def tail(bits: Bits, padding: str = "zero", **attributes: int | str) -> Program:
    graph = networks.tail_graph(SHAPE, np.random.default_rng(1), padding=padding)
    nodes = [replace(n, attributes=n.attributes | attributes) if n.kind == "binary_conv" else n for n in graph.nodes]
    graph = Graph(graph.input_shape, nodes, graph.ranges, graph.shapes, graph.replay_layers)
    return compile_tail(graph, networks.REPLAY_LAYER, bits, SAMPLES, 5)


def latent(machine: Memory, name: str = "conv_1") -> np.ndarray:
    bits = {np.uint8: 4, np.int8: 8, np.int16: 16, np.int32: 32}[machine.read(f"{name}.latent").dtype.type]
    return load_latent(machine.read(f"{name}.latent"), SHAPE[2], bits)


def train(machine: SlowMachine | NativeMachine, steps: int = STEPS) -> None:
    # A head of zeros passes no gradient.
    head = machine.read("head.weights")
    machine.write("head.weights", np.random.default_rng(2).integers(-(2**28), 2**28, head.shape).astype(np.int32))
    machine.run("prepare", networks.run_of(1, 0))
    for step in range(steps):
        networks.feed([machine], SAMPLES, seed=step)
        machine.run_step(networks.run_of(SAMPLES, step))


@pytest.mark.parametrize("bits", WIDTHS)
def test_a_weight_takes_just_its_bits(bits):
    weights = SHAPE[2] * SHAPE[2] * 9
    frozen, learned = tail(Bits(8, 1, 16)), tail(Bits(8, bits, 16))
    taken = sum(learned.tensor(f"conv_{n}.latent").bytes(SAMPLES) for n in (1, 2))
    assert taken == 2 * weights * bits // 8
    padding = 64 * (len(learned.tensors) - len(frozen.tensors))
    assert len(learned.parameters) - len(frozen.parameters) <= taken + padding
    assert not any(".latent" in tensor.name for tensor in frozen.tensors)


def test_an_odd_number_of_channels_fills_the_last_byte_with_0():
    values = np.array([[-8, 7, -1]])
    assert store_latent(values, 4).tolist() == [[0x78, 0x0F]]
    assert load_latent(store_latent(values, 4), 3, 4).tolist() == values.tolist()


@pytest.mark.parametrize("bits, start", [(4, 4), (4, 8), (8, 64), (8, 1), (16, 1 << 14), (32, 1 << 30)])
def test_they_start_k_units_from_the_other_sign(bits, start):
    program = tail(Bits(8, bits, 16), latent_start=start)
    words = networks.tail_graph(SHAPE, np.random.default_rng(1)).node("conv_1").arrays["weights"]
    assert isinstance(words, np.ndarray)
    frozen = signs(words, SHAPE[2])
    machine = SlowMachine(program)
    found = latent(machine)
    assert np.array_equal(np.where(found >= 0, 1, -1), frozen)
    assert set(np.unique(found)) == {start - 1, -start}
    assert np.array_equal(unpack(machine.read("conv_1.w"), SHAPE[2]), frozen > 0)


@pytest.mark.parametrize("bits", [Bits(8, 4, 8), Bits(8, 8, 16), Bits(8, 16, 16), Bits(8, 32, 32)], ids=str)
def test_they_move_flip_and_stay_in_their_bits(bits):
    machine = SlowMachine(tail(bits, latent_start=1))
    before = latent(machine)
    train(machine)
    after = latent(machine)
    limit = 2 ** (bits.backward_binary - 1)
    flipped = int(((before >= 0) != (after >= 0)).sum())
    assert 0 < flipped < before.size / 2
    assert (after != before).mean() > 0.01 and after.min() >= -limit and after.max() < limit
    assert np.array_equal(unpack(machine.read("conv_1.w"), SHAPE[2]), after >= 0)


def test_frozen_weights_stay():
    program = tail(Bits(8, 1, 16))
    assert program.tensor("conv_1.w").region == "constant"
    assert not {"latent_update", "latent_signs"} & {record.operation for record in program.records}


@pytest.mark.parametrize("padding", ["zero", "one"])
@pytest.mark.parametrize("bits", [Bits(8, 4, 16), Bits(8, 8, 8), Bits(16, 16, 16), Bits(32, 32, 32)], ids=str)
@pytest.mark.parametrize("path", available_isas())
def test_the_native_core_moves_them_alike(path, bits, padding):
    program = tail(bits, padding, latent_start=2)
    set_isa(path)
    reference, machine = SlowMachine(program), NativeMachine(program)
    for one in (reference, machine):
        train(one, 4)
    assert np.array_equal(reference.regions["parameter"], machine.regions["parameter"])
    assert not np.array_equal(reference.regions["parameter"], program.parameters)


def mean_movement(bits: int, start: int, steps: int) -> np.ndarray:
    """What one step moves each weight by, in shares of its start: the mean over many draws of the random numbers."""
    machine = SlowMachine(tail(Bits(8, bits, 16), latent_start=start))
    weights = machine.read("head.weights")
    machine.write("head.weights", np.random.default_rng(2).integers(-(2**27), 2**27, weights.shape).astype(np.int32))
    before, whole = latent(machine), machine.regions["parameter"].copy()
    total = np.zeros(before.shape)
    for step in range(steps):
        machine.regions["parameter"][...] = whole
        machine.run("prepare", networks.run_of(1, 0))
        networks.feed([machine], SAMPLES, seed=0)
        machine.run_step(replace(networks.run_of(SAMPLES, step), rate_shift=networks.RATE.shift + 10))
        total += latent(machine) - before
    return total / steps / start


def test_rounding_is_right_on_average():
    """32-bit weights move almost exactly; 8-bit ones, in units of 1/64, by as much on average."""
    exact, rounded = mean_movement(32, 1 << 24, 1), mean_movement(8, 64, 50)
    assert np.abs(exact).max() < 0.9 and 0 < np.abs(exact).mean() < 2 / 64
    # A mean of 50 draws strays by at most half a unit / sqrt(50).
    assert np.abs(rounded - exact).mean() < 0.5 / 64 / np.sqrt(50) * 1.1
    assert abs(float((rounded - exact).mean())) < 0.5 / 64 / np.sqrt(50 * exact.size) * 4
