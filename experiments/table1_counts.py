"""Table 1 of the paper, counted from graphs: how many weights a network has, and how many lie behind a replay layer.

B: weights of every convolution behind the replay layer, the real-valued ones too, as the paper counts them. NB: all
other parameters behind it. A shortcut that branches off before the replay layer lies before it. docs/models.md explains
where the paper prints other figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bitreplay.engine.graph import Graph
from bitreplay.engine.parameter_counts import parameter_counts

# (model, replay layer) -> what the paper prints: total, B, NB, B / (B + NB); M and K are powers of ten
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
    """One replay layer of one model, its shape (height, width, channels). Figures that the paper lacks are empty."""

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


def count_all(graphs: Mapping[str, Graph]) -> list[Row]:
    """The rows of the named graphs, the paper's first and in its order.

    The paper's models are counted with its number of classes and its image size, whatever head and size the file has.
    """
    paper = [name for name in SETTING if name in graphs]
    return [row for name in paper + sorted(set(graphs) - set(paper)) for row in count(name, graphs[name])]


def count(name: str, graph: Graph) -> list[Row]:
    """One row per replay layer, the one nearest to the head first."""
    side, n_classes = SETTING.get(name, (graph.input_shape[0], None))
    rows = []
    for replay_layer in sorted(graph.shapes, key=graph.position, reverse=True):
        height, width, channels = graph.shapes[replay_layer]
        shape = (height * side // graph.input_shape[0], width * side // graph.input_shape[1], channels)
        figures = PAPER.get((name, replay_layer))
        remark = REMARK.get(name, "") if figures else ""
        total = sum(map(sum, parameter_counts(graph, n_classes).values()))
        binary, other = behind(graph, replay_layer, n_classes)
        rows.append(Row(name, total, replay_layer, shape, binary, other, *(figures or ("", "", "", "")), remark))
    return rows


def behind(graph: Graph, replay_layer: str, n_classes: int | None = None) -> tuple[int, int]:
    """B and NB. A replay layer is a cut, so all that comes after it in the graph lies behind it."""
    counts = parameter_counts(graph, n_classes)
    after = [counts[node.name] for node in graph.nodes[graph.position(replay_layer) + 1 :]]
    return sum(b for b, _ in after), sum(n for _, n in after)
