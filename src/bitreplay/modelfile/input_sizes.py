"""A network for another input size: the same nodes, arrays and codes; other maps, and the ranges of that size.

    sizes(graph)           those that it can be used at, beside its own
    at_size(graph, 192)    the graph for squares of 192
    check_sizes(graph, yields)     refuses ranges for sizes that it cannot have

Maps shrink by the strides on the way, 32 in all for QuickNet. A size is a multiple of that, so that no window of a
stride reaches beyond its map, and at least twice as much: the last map has quarters then. A head that reads a whole
map, not means over it, has weights for one size alone.
"""

from __future__ import annotations

from dataclasses import replace

from bitreplay.engine.graph import Graph
from bitreplay.engine.kind import Yield
from bitreplay.modelfile.checks import yields_of
from bitreplay.modelfile.schema import need

LARGEST = 512


def sizes(graph: Graph, yields: dict[str, Yield] | None = None) -> range:
    """All sizes of a network; empty if it has only its own. `yields` are those of its nodes, where they are known."""
    yields = yields_of(graph) if yields is None else yields
    square = graph.input_shape[0] == graph.input_shape[1]
    if not square or yields[graph.nodes[-1].inputs[0]].shape[:2] != (1, 1):
        return range(0)
    stride = _stride(graph, yields)
    return range(2 * stride, LARGEST + 1, stride)


def at_size(graph: Graph, size: int) -> Graph:
    """The network at one of its sizes, with the ranges calibrated at the nearest size, the smaller of two."""
    model_size = graph.input_shape[0]
    if size == model_size:
        return graph
    ranges_at = {model_size: graph.ranges} | graph.ranges_at
    nearest = min(ranges_at, key=lambda other: (abs(other - size), other))
    shape = (size, size, graph.input_shape[2])
    sized = replace(graph, input_shape=shape, ranges=ranges_at[nearest], ranges_at={})
    yields = yields_of(sized)
    return replace(sized, shapes={replay_layer: yields[replay_layer].shape for replay_layer in graph.replay_layers})


def check_sizes(graph: Graph, yields: dict[str, Yield]) -> None:
    if graph.ranges_at:
        allowed, model_size = sizes(graph, yields), graph.input_shape[0]
        for size in graph.ranges_at:
            need(
                size in allowed and size != model_size,
                f"There are ranges for the size {size}, which the graph cannot have.",
            )


def _stride(graph: Graph, yields: dict[str, Yield]) -> int:
    """Rows of the image per row of the smallest map, leaving out means over a whole map."""
    strides: dict[str, int] = {graph.nodes[0].name: 1}
    for node in graph.nodes[1:]:
        after = yields[node.name].shape[0]
        before = yields[node.inputs[0]].shape[0] if after > 1 else after
        strides[node.name] = max(strides[name] for name in node.inputs) * max(round(before / after), 1)
    return max(strides.values())
