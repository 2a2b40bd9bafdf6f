"""How many parameters each node of a graph has: weights of convolutions, and all other numbers.

Others are BatchNorm's 4 per channel, learned thresholds 1, slopes and shifts 1 each, the blur's fixed 9, and the head.
Factors that a file stores beside binary weights are not parameters of the network: BatchNorm could absorb them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from bitreplay.engine.graph import Fixed, Graph, Node


def total_parameters(graph: Graph) -> int:
    """All parameters of the network, its head included."""
    return sum(convolution + other for convolution, other in parameter_counts(graph).values())


def parameter_counts(graph: Graph, n_classes: int | None = None) -> dict[str, tuple[int, int]]:
    """Convolution weights and other parameters of every node; `n_classes` counts a head of another size."""
    channels: dict[str, int] = {}
    counts: dict[str, tuple[int, int]] = {}
    for node in graph.nodes:
        inputs = [channels[source] for source in node.inputs]
        shapes = {
            key: array.values.shape if isinstance(array, Fixed) else array.shape for key, array in node.arrays.items()
        }
        if node.kind == "image":
            channels[node.name], counts[node.name] = graph.input_shape[2], (0, 0)
        elif node.kind == "binary_conv":  # packed: the last axis holds words, not channels
            outputs, rows, columns, _ = shapes["weights"]
            channels[node.name], counts[node.name] = outputs, (outputs * rows * columns * inputs[0], 0)
        elif node.kind in ("integer_conv", "depthwise_conv"):
            channels[node.name], counts[node.name] = shapes["weights"][0], (math.prod(shapes["weights"]), 0)
        elif node.kind == "dense":
            outputs, features = shapes["weights"]
            channels[node.name], counts[node.name] = outputs, (0, (features + 1) * (n_classes or outputs))
        else:
            channels[node.name] = sum(inputs) if node.kind == "concat" else inputs[0]
            counts[node.name] = 0, _others(node, channels[node.name], shapes)
    return counts


def _others(node: Node, channels: int, shapes: Mapping[str, tuple[int, ...]]) -> int:
    if node.kind == "blur_pool":
        return 9 * channels
    if node.kind == "batchnorm":
        return _batchnorm_parameters(node) * channels
    return sum(map(math.prod, shapes.values()))


def _batchnorm_parameters(node: Node) -> int:
    """Per channel: 4; 2 without gamma and beta (1 and 0 everywhere); 0 where the node only rounds sums."""
    plain = _is_all(node.arrays["gamma"], 1) and _is_all(node.arrays["beta"], 0)
    rounds = plain and _is_all(node.arrays["mean"], 0) and _is_all(node.arrays["inverse_sigma"], 1)
    return 0 if rounds else 2 if plain else 4


def _is_all(array: Fixed | np.ndarray, number: int) -> bool:
    assert isinstance(array, Fixed)
    stored = number * Fraction(2) ** array.shift
    return stored.denominator == 1 and bool(np.all(array.values == stored.numerator))
