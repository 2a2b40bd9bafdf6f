"""A BatchNorm that reads the image itself becomes part of the door's table: no rounding, no layer.

    table[u, colour] = round(D (gamma (x(u) - mean) / sigma + beta)),    scale 1 / D

x(u) is what the table held before. D is the largest power of two that keeps the table in 16 bits, so a value is off by
2^-13 at most where it stays below 4. Taps outside the map go on reading 0, now after normalisation, as they should.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bitreplay.engine.graph import Fixed, Graph, Ranges

LARGEST_DENOMINATOR = 1 << 15


def fold_normalisation(graph: Graph) -> Graph:
    """The same network with the BatchNorm behind its image folded in; other graphs come back as they are."""
    image = graph.nodes[0]
    readers = [node for node in graph.nodes if image.name in node.inputs]
    norm = readers[0]
    if len(readers) != 1 or norm.kind != "batchnorm" or len(norm.inputs) != 1 or norm.name in graph.replay_layers:
        return graph
    table, before = image.arrays["table"], image.attributes["scale_denominator"]
    assert isinstance(table, np.ndarray) and isinstance(before, int)
    gamma, beta, mean, inverse_sigma = (_real(norm.arrays[key]) for key in ("gamma", "beta", "mean", "inverse_sigma"))
    values = gamma * (table / before - mean) * inverse_sigma + beta
    denominator = LARGEST_DENOMINATOR
    while np.abs(np.rint(denominator * values)).max() > 32767:
        denominator //= 2
    door = replace(
        image,
        attributes={"scale_denominator": denominator},
        arrays={"table": np.rint(denominator * values).astype(np.int16)},
    )
    others = [
        replace(node, inputs=tuple(image.name if name == norm.name else name for name in node.inputs))
        for node in graph.nodes[1:]
        if node is not norm
    ]
    ranges_at = {size: _without(ranges, norm.name) for size, ranges in graph.ranges_at.items()}
    return replace(graph, nodes=[door, *others], ranges=_without(graph.ranges, norm.name), ranges_at=ranges_at)


def _without(ranges: Ranges, gone: str) -> Ranges:
    return {name: ends for name, ends in ranges.items() if name != gone}


def _real(array: object) -> np.ndarray:
    assert isinstance(array, Fixed)
    return array.values / 2.0**array.shift
