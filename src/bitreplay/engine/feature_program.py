"""The features that sums are made of: uint8 images -> `features`, int8 in [-127, 127].

    compile_features(graph, "head+add_12+add_11/4", bits, max_samples)

They are means of a layer's activations, channel by channel, part after part:

    head        what the head reads
    add_12      any layer that yields activations or signs, over its whole map
    add_11/4    the same over its quarters: upper left, upper right, lower left, lower right

    x = zero + round( sum over the cell of (stored - stored zero) * m / 2^s ),   m / 2^s = stored scale / (area scale)

with scale and zero of the layer's calibrated range at 8 bits, whatever q_f; for signs 1/127 and 0. -128 becomes -127.
The zero point stays in x: what is learned from sums does not change when a constant is added to every picture.
Where a map's height or width is odd, its last row or column lies in no quarter. With a projection (projection.py) these
are not the features yet, but what it reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bitreplay.engine import projection as projecting
from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.engine.arithmetic.quant import Activation
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.compile import walk
from bitreplay.engine.graph import Graph, Node
from bitreplay.engine.layers.clipped_sign import emit_numbers
from bitreplay.engine.program import Program, ProgramError
from bitreplay.engine.projection import Projection
from bitreplay.engine.sums import LARGEST, MAX_FEATURES

HEAD = "head"
SIGNS = Activation(8, Fraction(1, LARGEST), 0)
_PART = "features."


@dataclass(frozen=True)
class Part:
    """Means of one layer; `cells` along each side of its map: 1, or 2 for quarters."""

    layer: str
    cells: int

    def __str__(self) -> str:
        return self.layer + ("/4" if self.cells == 2 else "")


def parts_of(feature_layers: str) -> list[Part]:
    """
    >>> [(part.layer, part.cells) for part in parts_of("head+add_11/4")]
    [('head', 1), ('add_11', 2)]
    """
    parts = []
    for text in feature_layers.split("+"):
        layer, slash, cells = text.strip().partition("/")
        if not layer or (slash and cells != "4"):
            raise ProgramError(f"feature layers must be names joined by +, each with or without /4, got {text!r}")
        parts.append(Part(layer, 2 if slash else 1))
    if len(set(parts)) != len(parts):
        raise ProgramError(f"feature layers name a layer twice: {feature_layers!r}")
    return parts


def default_feature_layers(graph: Graph) -> str:
    """The default: the head's input unless it reads signs, the last level, and the level before it in quarters.

    With one level, that one in quarters. Chosen on held-out training pictures: docs/exact.md.
    """
    replay_layers = sorted(graph.replay_layers, key=graph.position)
    head = [HEAD] if graph.nodes[-1].inputs[0] in graph.ranges else []
    return "+".join([*head, *replay_layers[1:][-1:], *(f"{replay_layer}/4" for replay_layer in replay_layers[-2:][:1])])


def compile_features(
    graph: Graph, feature_layers: str, bits: Bits, max_samples: int, projection: Projection | None = None
) -> Program:
    """Images -> `features`, one int8 row a sample."""
    parts = [(part, _layer(graph, part)) for part in parts_of(feature_layers)]
    builder = Builder(graph, bits, max_samples, "nothing")
    walk(builder, _below(graph, {layer for _, layer in parts}))
    buffer = "features" if projection is None else "means"
    pooled = [_pooled(builder, buffer, number, part, layer) for number, (part, layer) in enumerate(parts)]
    lengths = [value.shape[2] for value in pooled]
    if sum(lengths) > MAX_FEATURES:
        raise ProgramError(f"there are at most {MAX_FEATURES} features, and {feature_layers} has {sum(lengths)}")
    means = builder.buffer(buffer, np.int8, (1, 1, sum(lengths)))
    one, first = Multiplier.of(Fraction(1)), 0
    for value in pooled:
        builder.emit("forward", "concat", {"x": value.tensor, "y": means}, first=first, x_zero=0,
                      mantissa=one.mantissa, shift=one.shift, y_zero=0, low=-LARGEST, high=LARGEST)  # fmt: skip
        first += value.shape[2]
    if projection is None:
        builder.hold(means)
    else:
        features = builder.hold(projecting.emit(builder, means, projection, "features"))
        builder.reshaped(features, f"{_PART}0", (1, 1, len(projection)))
    return builder.finish()


def part_lengths(program: Program) -> list[int]:
    """How many numbers each part of `features` has; projected ones are one part."""
    return [int(np.prod(tensor.shape)) for tensor in program.tensors if tensor.name.startswith(_PART)]


def _layer(graph: Graph, part: Part) -> str:
    layer = graph.nodes[-1].inputs[0] if part.layer == HEAD else part.layer
    if layer not in [node.name for node in graph.nodes[:-1]]:
        raise ProgramError(f"the network has no layer {part.layer!r}")
    return layer


def _below(graph: Graph, layers: set[str]) -> list[Node]:
    """The nodes that these layers are made of, in the network's order."""
    needed = set(layers)
    for node in reversed(graph.nodes):
        if node.name in needed:
            needed |= set(node.inputs)
    return [node for node in graph.nodes if node.name in needed]


def _pooled(c: Builder, buffer: str, number: int, part: Part, layer: str) -> Value:
    """One part as a row of int8."""
    x = c.values[layer]
    signs = x.activation is None and x.scales is None and x.bound == 1
    if signs:
        x = emit_numbers(c, x, f"numbers.{number}", "forward")
    elif x.activation is None or layer not in c.graph.ranges:
        raise ProgramError(f"{part.layer!r} has no calibrated range: name a layer that yields activations or signs")
    assert x.activation is not None
    height, width, channels = x.shape
    cells = (height // part.cells, width // part.cells)
    if 0 in cells:
        raise ProgramError(f"the map of {part.layer!r} is {height}x{width}: it has no quarters")
    area = cells[0] * cells[1]
    if (x.bound * area).bit_length() > 31:
        raise ProgramError(f"{part.layer!r}: sums over {area} elements must fit 31 bits")
    spec = SIGNS if signs else Activation.of_range(*c.graph.ranges[layer], 8)
    multiplier = Multiplier.of(x.activation.scale / (area * spec.scale))
    y = c.buffer(f"{buffer}.{number}", np.int8, (part.cells, part.cells, channels))
    c.emit("forward", "average_pool", {"x": x.tensor, "y": y}, window_h=cells[0], window_w=cells[1],
           x_zero=x.activation.zero, mantissa=multiplier.mantissa, shift=multiplier.shift, y_zero=spec.zero,
           low=-LARGEST, high=LARGEST)  # fmt: skip
    length = part.cells**2 * channels
    return Value(c.reshaped(y, f"row.{number}", (1, 1, length)), (1, 1, length), LARGEST, activation=spec)
