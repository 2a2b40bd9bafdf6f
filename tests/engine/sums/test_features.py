"""The numbers of a picture: means of layers against exact fractions, on every path, at every q_f."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from bitreplay.engine import native
from bitreplay.engine.arithmetic.packing import unpack
from bitreplay.engine.arithmetic.quant import Activation
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import Builder
from bitreplay.engine.compile import walk
from bitreplay.engine.feature_program import compile_features, default_feature_layers, part_lengths
from bitreplay.engine.graph import Graph
from bitreplay.engine.operations import Run
from bitreplay.engine.program import ProgramError
from bitreplay.engine.reference import ReferenceMachine
from tests import tiny

ALL = "add_1/4+head+sign+add_0+add_0/4"
SAMPLES = 5


def images(samples: int = SAMPLES) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (samples, tiny.SIDE, tiny.SIDE, 3), dtype=np.uint8)


def features(machine, samples: int = SAMPLES) -> np.ndarray:
    machine.write("images", images(samples))
    machine.run("forward", Run(samples))
    return machine.read("features", samples).reshape(samples, -1)


def layers(graph: Graph, bits: Bits) -> dict[str, np.ndarray]:
    """What each layer of the whole network holds, in real numbers."""
    builder = Builder(graph, bits, SAMPLES, "nothing", keep=True)
    walk(builder, graph.nodes[:-1])
    builder.hold(builder.values["pool"].tensor)
    machine = ReferenceMachine(builder.finish())
    machine.write("images", images())
    machine.run("forward", Run(SAMPLES))
    found = {}
    for name in ("add_0", "add_1", "pool"):
        spec = builder.activation(name)
        found[name] = np.vectorize(lambda stored, s=spec: s.scale * (int(stored) - s.zero))(machine.read(name, SAMPLES))
    found["sign"] = 2 * unpack(machine.read("sign", SAMPLES), tiny.CHANNELS).astype(object) - 1
    return found


def rounded(value: Fraction) -> int:
    """Nearest, ties away from zero."""
    return floor(abs(value) + Fraction(1, 2)) * (1 if value >= 0 else -1)


def means(values: np.ndarray, cells: int, spec: Activation) -> list[list[int]]:
    n, height, width, _ = values.shape
    rows = [slice(k * (height // cells), (k + 1) * (height // cells)) for k in range(cells)]
    columns = [slice(k * (width // cells), (k + 1) * (width // cells)) for k in range(cells)]
    result = []
    for sample in values:
        n_features = []
        for row in rows:
            for column in columns:
                area = (row.stop - row.start) * (column.stop - column.start)
                for total in sample[row, column].sum(axis=(0, 1)):
                    n_features.append(min(max(rounded(Fraction(total) / area / spec.scale) + spec.zero, -127), 127))
        result.append(n_features)
    return result


@pytest.mark.parametrize("forward", [8, 16, 32])
def test_they_are_the_rounded_means_of_what_layers_hold(forward):
    graph = tiny.graph()
    program = compile_features(graph, ALL, Bits(forward=forward), SAMPLES)
    values = layers(graph, Bits(forward=forward))
    eight = Activation.of_range(Fraction(-4), Fraction(4), 8)
    signs = Activation(8, Fraction(1, 127), 0)
    wanted = np.concatenate(
        [
            means(values["add_1"], 2, eight),
            means(values["pool"], 1, eight),
            means(values["sign"], 1, signs),
            means(values["add_0"], 1, eight),
            means(values["add_0"], 2, eight),
        ],
        axis=1,
    )
    assert part_lengths(program) == [64, 16, 16, 16, 64]
    # A multiplier has 31 significant bits: a tie of the exact quotient may fall to either side.
    found = features(ReferenceMachine(program))
    assert np.abs(found - wanted).max() <= 1 and (found != wanted).mean() < 0.02
    assert found.std() > 5


@pytest.mark.parametrize("path", native.available_isas())
@pytest.mark.parametrize("forward", [8, 16, 32])
def test_every_path_has_the_same_bits(path, forward, record_property):
    record_property("path", path)
    program = compile_features(tiny.graph(), ALL, Bits(forward=forward), 19)
    wanted = features(ReferenceMachine(program), 19)
    before = native.isa()
    native.set_isa(path)
    try:
        for threads in (1, 3):
            assert np.array_equal(features(native.NativeMachine(program, threads), 19), wanted)
    finally:
        native.set_isa(before)


def test_a_layer_has_the_same_numbers_whatever_stands_beside_it():
    graph = tiny.graph()
    alone = features(ReferenceMachine(compile_features(graph, "add_0", Bits(), SAMPLES)))
    among = features(ReferenceMachine(compile_features(graph, ALL, Bits(), SAMPLES)))
    assert np.array_equal(alone, among[:, 96:112])
    assert len(compile_features(graph, "add_0", Bits(), 1).records) < len(
        compile_features(graph, ALL, Bits(), 1).records
    )


def test_the_lowest_stored_number_becomes_minus_127():
    graph = tiny.graph()
    graph.ranges["add_0"] = (Fraction(1, 10**6), Fraction(1, 10**5))  # everything saturates at either end
    found = features(ReferenceMachine(compile_features(graph, "add_0/4", Bits(), SAMPLES)))
    assert set(np.unique(found)) == {-127, 127}


def test_quarters_of_an_odd_map_leave_out_its_last_row_and_column():
    graph = tiny.graph()
    whole = Graph((12, 12, 3), graph.nodes, graph.ranges, {"add_0": (3, 3, 16)}, graph.replay_layers)
    pictures = np.random.default_rng(2).integers(0, 256, (1, 12, 12, 3), dtype=np.uint8)
    compiled = compile_features(whole, "add_0/4", Bits(), 1)
    assert part_lengths(compiled) == [64]
    found = []
    for changed in (False, True):
        machine = ReferenceMachine(compiled)
        pictures[:, 9:, 9:] = 255 if changed else pictures[:, 9:, 9:]
        machine.write("images", pictures)
        machine.run("forward", Run(1))
        found.append(machine.read("features", 1))
    assert np.array_equal(found[0], found[1])


def test_the_usual_numbers():
    graph = tiny.graph()
    assert default_feature_layers(graph) == "head+add_0/4"
    replay_layers = graph.replay_layers | {"add_1": graph.replay_layers["add_0"]}
    assert (
        default_feature_layers(Graph(graph.input_shape, graph.nodes, graph.ranges, {}, replay_layers))
        == "head+add_1+add_0/4"
    )
    less = {name: ends for name, ends in graph.ranges.items() if name != "pool"}
    assert default_feature_layers(Graph(graph.input_shape, graph.nodes, less, {}, graph.replay_layers)) == "add_0/4"


@pytest.mark.parametrize(
    ("feature_layers", "reason"),
    [
        ("head+add_9", "no layer 'add_9'"),
        ("head+head", "name a layer twice"),
        ("add_0/3", "joined by +"),
        ("", "joined by +"),
        ("head+", "joined by +"),
        ("pool/4", "is 1x1: it has no quarters"),
        ("binary", "name a layer that yields"),
        ("conv", "name a layer that yields"),
        ("image", "name a layer that yields"),
    ],
)
def test_what_cannot_be_is_refused(feature_layers, reason):
    with pytest.raises(ProgramError, match=reason.replace("+", r"\+")):
        compile_features(tiny.graph(), feature_layers, Bits(), SAMPLES)
