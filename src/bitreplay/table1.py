"""Table 1 of the paper, counted from graphs: how many weights a network has, and how many lie behind a replay level.

B: weights of every convolution behind the level, the real-valued ones too, as the paper counts them. NB: the other
numbers behind it: BatchNorm 4 a channel, learned thresholds 1, slopes and shifts 1 each, the blur's fixed 9, the head.
A shortcut that branches off before the level lies before it. Factors that a file keeps beside binary weights are no
weights of the network: BatchNorm could take them in. docs/models.md explains where the paper prints other figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bitreplay.engine.graph import Fixed, Graph, Node

# (model, level) -> what the paper prints: total, B, NB, B / (B + NB); M and K are powers of ten
PAPER: dict[tuple[str, str], tuple[str, str, str, str]] = {
    ("bireal18", "add_12"): ("11.2M", "7.0M", "19K", "99.7%"),
    ("bireal18", "add_8"): ("11.2M", "10.1M", "28K", "99.7%"),
    ("react18", "add_12"): ("11.1M", "7.0M", "18K", "99.7%"),
    ("react18", "add_11"): ("11.1M", "8.3M", "24K", "99.7%"),
    ("vgg_small", "conv_5"): ("4.6M", "2.3M", "86K", "96.4%"),
    ("quicknet", "quant_conv2d_16"): ("12.7M", "9.5M", "36K", "99.6%"),
    ("quicknet", "quant_conv2d_11"): ("12.7M", "11.9M", "43K", "99.6%"),
    ("quicknet_large", "quant_conv2d_30"): ("22.8M", "14.2M", "40K", "99.7%"),
    ("quicknet_large", "quant_conv2d_17"): ("22.8M", "21.3M", "56K", "99.7%"),
}
# What the paper's table is for: the side of the images and the number of classes.
SETTING = {
    "bireal18": (32, 10),
    "react18": (32, 10),
    "vgg_small": (32, 10),
    "quicknet": (224, 50),
    "quicknet_large": (224, 50),
}
REMARK = {
    "bireal18": "As published a block has one BatchNorm. The paper's NB fits 19,466 and 28,682: a BatchNorm before "
    "each sign, after each binary convolution and before the head, none in a shortcut.",
}


@dataclass(frozen=True)
class Row:
    """One level of one model; the paper's figures are empty where it has none. Shapes are (height, width, channels)."""

    model: str
    total: int
    replay_layer: str
    shape: tuple[int, int, int]
    binary: int
    other: int
    paper_total: str = ""
    paper_binary: str = ""
    paper_other: str = ""
    paper_share: str = ""
    remark: str = ""

    @property
    def share(self) -> float:
        """B / (B + NB)"""
        return self.binary / (self.binary + self.other)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"share": self.share}


def table1(graphs: Mapping[str, Graph]) -> list[Row]:
    """The rows of the named graphs, the paper's first and in its order.

    The paper's models are counted with its number of classes and its image size, whatever head and size the file has.
    """
    paper = [name for name in SETTING if name in graphs]
    return [row for name in paper + sorted(set(graphs) - set(paper)) for row in rows(name, graphs[name])]


def rows(name: str, graph: Graph) -> list[Row]:
    """One row a level, the one nearest to the head first."""
    side, classes = SETTING.get(name, (graph.input_shape[0], None))
    found = []
    for replay_layer in sorted(graph.shapes, key=graph.position, reverse=True):
        height, width, channels = graph.shapes[replay_layer]
        shape = (height * side // graph.input_shape[0], width * side // graph.input_shape[1], channels)
        figures = PAPER.get((name, replay_layer))
        remark = REMARK.get(name, "") if figures else ""
        total = sum(map(sum, weights(graph, classes).values()))
        binary, other = behind(graph, replay_layer, classes)
        found.append(Row(name, total, replay_layer, shape, binary, other, *(figures or ("", "", "", "")), remark))
    return found


def behind(graph: Graph, replay_layer: str, classes: int | None = None) -> tuple[int, int]:
    """B and NB. A level is a cut, so all that comes after it in the graph lies behind it."""
    counted = weights(graph, classes)
    after = [counted[node.name] for node in graph.nodes[graph.position(replay_layer) + 1 :]]
    return sum(b for b, _ in after), sum(n for _, n in after)


def weights(graph: Graph, classes: int | None = None) -> dict[str, tuple[int, int]]:
    """Convolution weights and other numbers of every node; `classes` None counts the head that is there."""
    channels: dict[str, int] = {}
    found: dict[str, tuple[int, int]] = {}
    for node in graph.nodes:
        read = [channels[source] for source in node.inputs]
        shapes = {
            key: array.values.shape if isinstance(array, Fixed) else array.shape for key, array in node.arrays.items()
        }
        if node.kind == "image":
            channels[node.name], found[node.name] = graph.input_shape[2], (0, 0)
        elif node.kind == "binary_conv":  # packed: the last axis holds words, not channels
            outputs, rows, columns, _ = shapes["weights"]
            channels[node.name], found[node.name] = outputs, (outputs * rows * columns * read[0], 0)
        elif node.kind in ("integer_conv", "depthwise_conv"):
            channels[node.name], found[node.name] = shapes["weights"][0], (math.prod(shapes["weights"]), 0)
        elif node.kind == "dense":
            outputs, features = shapes["weights"]
            channels[node.name], found[node.name] = outputs, (0, (features + 1) * (classes or outputs))
        else:
            channels[node.name] = sum(read) if node.kind == "concat" else read[0]
            found[node.name] = 0, others(node, channels[node.name], shapes)
    return found


def others(node: Node, channels: int, shapes: Mapping[str, tuple[int, ...]]) -> int:
    if node.kind == "blur_pool":
        return 9 * channels
    if node.kind == "batchnorm":
        return batchnorm_numbers(node) * channels
    return sum(map(math.prod, shapes.values()))


def batchnorm_numbers(node: Node) -> int:
    """Numbers a channel: 4; 2 in one without gamma and beta (1 and 0 everywhere); 0 where a graph only rounds sums."""
    plain = is_all(node.arrays["gamma"], 1) and is_all(node.arrays["beta"], 0)
    rounds = plain and is_all(node.arrays["mean"], 0) and is_all(node.arrays["inverse_sigma"], 1)
    return 0 if rounds else 2 if plain else 4


def is_all(array: Fixed | np.ndarray, number: int) -> bool:
    assert isinstance(array, Fixed)
    return bool(np.all(array.values == number * 2.0**array.shift))
