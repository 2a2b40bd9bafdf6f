"""What the compiler chooses keeps every accumulator within its bound, also for odd but legal networks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail, compile_whole
from bitreplay.engine.graph import Fixed, Graph, Node
from bitreplay.engine.operations import OPERATIONS, Run
from bitreplay.engine.program import Program, ProgramError
from bitreplay.engine.reference import ReferenceMachine
from tests.engine import networks
from tests.engine.law.numbers import activation, nearest

WIDTHS = [Bits(8, 1, 8), Bits(8, 1, 32), Bits(16, 1, 16), Bits(32, 1, 32)]


def attributes(program: Program, operation: str) -> list[dict[str, int]]:
    names = OPERATIONS[operation].attributes
    return [dict(zip(names, r.attributes, strict=True)) for r in program.records if r.operation == operation]


def with_numbers(graph: Graph, **numbers: Fixed) -> Graph:
    """The same graph with other numbers in every BatchNorm."""
    nodes = [replace(n, arrays={**n.arrays, **numbers}) if n.kind == "batchnorm" else n for n in graph.nodes]
    return replace(graph, nodes=nodes)


@pytest.mark.parametrize("bits", WIDTHS, ids=str)
@pytest.mark.parametrize("gamma", [0, 1, 2**6, 2**14, 2**28])
def test_a_shortcut_beside_a_small_gamma(gamma, bits):
    """With gamma near 0 a block passes its shortcut and beta on; the shortcut's factor may not outgrow its bound."""
    graph = with_numbers(
        networks.tail_graph((2, 2, 4), np.random.default_rng(0)),
        gamma=Fixed(np.full(4, gamma, np.int32), 28),
        beta=Fixed(np.full(4, 2**27, np.int32), 28),
    )
    program = compile_tail(graph, networks.REPLAY_LAYER, bits, 1, 3, keep=True)
    machine = ReferenceMachine(program)
    networks.feed([machine], 1, seed=0)
    machine.run("forward", Run(1))
    for a in attributes(program, "affine"):
        assert (2**24 * a["residual_factor"]).bit_length() <= 61
    for a in attributes(program, "sign_input_grad"):
        assert a["bound"] <= 62 and a["other_bound"] <= 62
    if gamma == 0:
        scale, zero = activation(Fraction(-4), Fraction(4), bits.forward)
        before, after = machine.read("add_0", 1).ravel().tolist(), machine.read("add_1", 1).ravel().tolist()
        for r, y in zip(before, after, strict=True):
            exact = Fraction(r - zero) + Fraction(1, 2) / scale
            assert abs(y - zero - exact) <= Fraction(1, 2) + Fraction(1, 1000)


@pytest.mark.parametrize("bits", WIDTHS, ids=str)
@pytest.mark.parametrize("mean", [0, 1, 30, 1000])
def test_gamma_s_gradient_with_a_mean_far_outside_the_sums(mean, bits):
    """d gamma = sum g (x - mean) by fractions, from the stored gradient."""
    graph = with_numbers(
        networks.tail_graph((2, 2, 4), np.random.default_rng(0)), mean=Fixed(np.full(4, mean * 2**20, np.int32), 20)
    )
    program = compile_tail(graph, networks.REPLAY_LAYER, bits, 2, 3, keep=True)
    machine = ReferenceMachine(program)
    head = np.random.default_rng(1).integers(-(2**27), 2**27, (3, 5)).astype(np.int32)
    machine.write("head.weights", head)
    networks.feed([machine], 2, seed=0)
    for name in ("prepare", "forward", "backward"):
        machine.run(name, Run(2))
    (record,) = [r for r in program.records if r.operation == "batchnorm_update" and r.tensors[0] == gamma_of(program)]
    a = dict(zip(OPERATIONS["batchnorm_update"].attributes, record.attributes, strict=True))
    names = dict(zip(OPERATIONS["batchnorm_update"].tensors, record.tensors, strict=True))
    p, q, pe, means = (machine.read(program.tensors[names[role]].name) for role in ("p", "q", "pe", "mean"))
    g, e = machine.read("add_2.grad", 2).astype(object), machine.read("add_2.exp", 2)
    x = machine.read("conv_2", 2).astype(object)
    for c in range(4):
        centred = int(p[c]) * 2 ** a["mean_shift"] - int(means[c]) * int(q[c])
        assert abs(centred) < 2**62
        found = Fraction(centred) * Fraction(2) ** (int(pe[0]) - a["mean_shift"])
        m = Fraction(int(means[c]), 2 ** a["mean_shift"])
        exact = sum(
            (int(g[n, i, j, c]) * (int(x[n, i, j, c]) - m) * Fraction(2) ** int(e[n])
             for n in range(2) for i in range(2) for j in range(2)), Fraction(0))  # fmt: skip
        assert abs(found - exact) <= abs(exact) / 10**6 + Fraction(1, 2**60)


def gamma_of(program: Program) -> int:
    return next(n for n, tensor in enumerate(program.tensors) if tensor.name == "add_2.gamma")


def test_sums_of_an_integer_convolution_that_round_up_to_32_bits():
    """255 * 16843009 = 2^32 - 1: half of it rounds to 2^31, one more than an int32 holds."""
    table = np.repeat(np.arange(-255, 256, 2, dtype=np.int16)[:, None], 3, axis=1)
    largest = 2**23 - 1
    rows = np.array([largest, largest, 16843009 - 2 * largest], np.int32)
    weights = Fixed(np.stack([rows, -rows]).reshape(2, 1, 1, 3), 20)
    nodes = [
        Node("image", "image", (), {}, {"table": table}),
        Node("sums", "integer_conv", ("image",), {}, {"weights": weights}),
    ]
    norm = networks.batchnorm("y", ("sums",), 2, 3, np.random.default_rng(0))
    graph = Graph((1, 1, 3), [*nodes, norm], {"y": (Fraction(-4), Fraction(4))})
    machine = ReferenceMachine(compile_whole(graph, Bits(32), 1))
    machine.write("images", np.full((1, 1, 1, 3), 255, np.uint8))
    machine.run("forward", Run(1))
    down = attributes(machine.program, "integer_conv")[0]["down"]
    total = 255 * 16843009
    tensor = machine.program.tensor("sums")
    assert machine.view(tensor, 1).ravel().tolist() == [
        nearest(Fraction(total, 2**down)),
        -nearest(Fraction(total, 2**down)),
    ]


def pool_of(low: Fraction, high: Fraction, side: int, bits: int) -> Program:
    """One average over a map of activations in [0, 1], into [low, high]."""
    nodes = [networks.batchnorm("x", ("image",), 3, 1, np.random.default_rng(0)), Node("y", "average_pool", ("x",))]
    table = np.zeros((256, 3), np.int16)
    ranges = {"x": (Fraction(0), Fraction(1)), "y": (low, high)}
    graph = Graph((side, side, 3), [Node("image", "image", (), {}, {"table": table}), *nodes], ranges)
    return compile_whole(graph, Bits(bits), 1)


def wide_conv(channels: int) -> Program:
    """A binary convolution from so many channels to one."""
    rng, replay_layer, ends = np.random.default_rng(0), networks.REPLAY_LAYER, (Fraction(-4), Fraction(4))
    nodes = [Node(replay_layer, "image", ()), Node("sign", "sign", (replay_layer,)),
             networks.binary("conv", "sign", 1, channels, rng),
             networks.batchnorm("y", ("conv",), 1, 9 * channels, rng), Node("head", "dense", ("y",))]  # fmt: skip
    codes = {replay_layer: networks.latent_codes(channels, rng)}
    graph = Graph((1, 1, 3), nodes, {replay_layer: ends, "y": ends}, {replay_layer: (1, 1, channels)}, codes)
    return compile_tail(graph, replay_layer, Bits(8, 1, 8), 1, 3)


def test_sums_that_could_leave_their_bound_are_refused():
    """One step inside each bound compiles, one outside is refused with a sentence."""
    pool_of(Fraction(0), Fraction(1), 11, 32)
    with pytest.raises(ProgramError, match="sums must fit 31 bits"):
        pool_of(Fraction(0), Fraction(1), 12, 32)
    wide_conv(3640)
    with pytest.raises(ProgramError, match="do not fit int16"):
        wide_conv(3641)
    for spread, fits in ((2**8, True), (2**40, False)):
        graph = networks.tail_graph((1, 1, 4), np.random.default_rng(0), blocks=1)
        graph.ranges[networks.REPLAY_LAYER] = (Fraction(-spread), Fraction(spread))
        if fits:
            compile_tail(graph, networks.REPLAY_LAYER, Bits(32, 1, 32), 1, 3)
        else:
            with pytest.raises(ProgramError, match="must fit 60 bits"):
                compile_tail(graph, networks.REPLAY_LAYER, Bits(32, 1, 32), 1, 3)
