"""The door and the level's code: forward only. Every width of a code, at every q_f, from image to tail."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.graph import Fixed, Graph, LatentCode, Node
from bitreplay.engine.native import NativeMachine
from bitreplay.engine.operations import Run
from bitreplay.engine.program import Program
from bitreplay.engine.reference import ReferenceMachine
from tests.engine.networks import batchnorm

SIDE, CHANNELS, SAMPLES = 3, 5, 2
ENDS = (Fraction(-3), Fraction(4))


def graph_of(rng: np.random.Generator) -> Graph:
    """An image, a 1x1 convolution, a BatchNorm at the level, a pool and a head."""
    table = np.repeat(np.arange(-255, 256, 2, dtype=np.int16)[:, None], 3, axis=1)
    weights = Fixed.of(rng.normal(0, 2, (CHANNELS, 1, 1, 3)), 16)
    nodes = [
        Node("image", "image", (), {}, {"table": table}),
        Node("conv", "integer_conv", ("image",), {}, {"weights": weights}),
        batchnorm("level", ("conv",), CHANNELS, 3000, rng),
        Node("pool", "average_pool", ("level",)),
        Node("head", "dense", ("pool",)),
    ]
    codes = {}
    for bits in (1, 2, 4):
        thresholds = np.sort(rng.normal(0, 0.5, (CHANNELS, 2**bits - 1)))
        values = np.sort(rng.normal(0, 1, (CHANNELS, 2**bits)))
        codes[bits] = LatentCode(bits, Fixed.of(thresholds), Fixed.of(values))
    ranges = {"level": ENDS, "pool": ENDS}
    return Graph((SIDE, SIDE, 3), nodes, ranges, {"level": (SIDE, SIDE, CHANNELS)}, {"level": codes})


@pytest.fixture(scope="module")
def graph() -> Graph:
    return graph_of(np.random.default_rng(3))


def images() -> np.ndarray:
    return np.random.default_rng(4).integers(0, 256, (SAMPLES, SIDE, SIDE, 3), dtype=np.uint8)


def encoded(machine: ReferenceMachine | NativeMachine) -> tuple[np.ndarray, np.ndarray]:
    """The level's activations and their code."""
    machine.write("images", images())
    machine.run("forward", Run(SAMPLES))
    return machine.read("level", SAMPLES).astype(np.int64), machine.read("latents", SAMPLES)


def decoded(program: Program, code: np.ndarray) -> np.ndarray:
    machine = ReferenceMachine(program)
    machine.write("latents", code)
    machine.run("forward", Run(SAMPLES))
    return machine.read("level", SAMPLES).astype(np.int64)


@pytest.mark.parametrize("forward", [8, 16, 32])
@pytest.mark.parametrize("latent_bits", [1, 2, 4, 8, 16, 32])
def test_what_the_tail_reads_is_the_coded_level(graph, forward, latent_bits):
    bits = Bits(forward, 1, 16)
    program = compile_backbone(graph, "level", bits, SAMPLES, latent_bits)
    stored, code = encoded(ReferenceMachine(program))
    assert code.shape == (SAMPLES, SIDE, SIDE, latent_bits) and np.array_equal(code, encoded(NativeMachine(program))[1])
    found = decoded(compile_tail(graph, "level", bits, SAMPLES, 4, latent_bits, keep=True), code)
    q = {8: 8, 16: 16, 32: 24}[forward]
    scale = float(ENDS[1] - ENDS[0]) / (2**q - 1)
    zero = round(-float(ENDS[0]) / scale) - 2 ** (q - 1)
    if latent_bits >= q:
        assert np.array_equal(found, stored)
    elif latent_bits >= 8:
        step = 2 ** (q - latent_bits)
        assert np.array_equal(found, (stored + 2 ** (q - 1)) // step * step - 2 ** (q - 1) + step // 2)
    else:
        table = graph.replay_layers["level"][latent_bits]
        thresholds, values = (
            np.clip(np.rint(f.values * 2.0**-f.shift / scale) + zero, -(2 ** (q - 1)), 2 ** (q - 1) - 1)
            for f in (table.thresholds, table.values)
        )
        index = (stored[..., None] >= thresholds).sum(axis=-1)
        assert np.array_equal(found, values[np.arange(CHANNELS), index])
        assert len(np.unique(index)) > 1


def test_forward_is_pure_and_survives_saving(graph):
    program = compile_backbone(graph, "level", Bits(8), SAMPLES, 2)
    again = Program.from_bytes(program.to_bytes())
    assert again.to_bytes() == program.to_bytes()
    machine = ReferenceMachine(program)
    first, second, third = encoded(machine), encoded(machine), encoded(ReferenceMachine(again))
    for other in (second, third):
        assert np.array_equal(first[0], other[0]) and np.array_equal(first[1], other[1])
    assert np.array_equal(machine.read("images", SAMPLES), images())


def test_the_door_is_exact(graph):
    """2u - 255 in units of 1/255: 0 is -1, 255 is +1, and nothing is rounded."""
    program = compile_backbone(graph, "level", Bits(8), SAMPLES, 1)
    machine = ReferenceMachine(program)
    ramp = np.arange(SAMPLES * SIDE * SIDE * 3, dtype=np.uint8).reshape(SAMPLES, SIDE, SIDE, 3) * 5
    machine.write("images", ramp)
    machine.run_record(next(r for r in program.records if r.operation == "image_table"), Run(SAMPLES))
    assert np.array_equal(machine.read("image", SAMPLES), 2 * ramp.astype(np.int16) - 255)
