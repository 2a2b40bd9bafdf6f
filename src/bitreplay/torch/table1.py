"""Table 1 of the paper: how many weights lie after a level, and how many of them are convolution weights.

Counted from the traced model, not by hand. B: weights of every convolution after the level (the real 1x1 ones too). NB:
everything else after it: BatchNorm 4 a channel (2 without gamma and beta), RSign 1, RPReLU 3, the blur's fixed 9, the
head. What ends at the level or before it does not count: a shortcut that branches off earlier lies before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import fx, nn

from .binarize import BinaryConv2d
from .layers import Blur, trace
from .models import MODELS, build, level_tensors

# model, level -> what the paper prints: total, shape, B, NB (figures truncated there; M and K are powers of ten)
PAPER: dict[tuple[str, str], tuple[str, tuple[int, int, int], str, str]] = {
    ("bireal18", "add_12"): ("11.2M", (4, 4, 512), "7.0M", "19K"),
    ("bireal18", "add_8"): ("11.2M", (8, 8, 256), "10.1M", "28K"),
    ("react18", "add_12"): ("11.1M", (4, 4, 512), "7.0M", "18K"),
    ("react18", "add_11"): ("11.1M", (8, 8, 256), "8.3M", "24K"),
    ("vgg_small", "conv_5"): ("4.6M", (8, 8, 512), "2.3M", "86K"),
    ("quicknet", "quant_conv2d_16"): ("12.7M", (7, 7, 256), "9.5M", "36K"),
    ("quicknet", "quant_conv2d_11"): ("12.7M", (14, 14, 128), "11.9M", "43K"),
    ("quicknet_large", "quant_conv2d_30"): ("22.8M", (7, 7, 256), "14.2M", "40K"),
    ("quicknet_large", "quant_conv2d_17"): ("22.8M", (14, 14, 128), "21.3M", "56K"),
}
CLASSES = {"bireal18": 10, "react18": 10, "vgg_small": 10, "quicknet": 50, "quicknet_large": 50}
SIZE = {"bireal18": 32, "react18": 32, "vgg_small": 32, "quicknet": 224, "quicknet_large": 224}
REMARK = {
    "bireal18": "As published a block has one BatchNorm. The paper's NB (19,466 and 28,682) fits a BatchNorm before "
    "and after each convolution and one before the head; other countings fit as well.",
}


@dataclass(frozen=True)
class Row:
    """One line of the table. Shapes are (height, width, channels)."""

    model: str
    total: int
    level: str
    shape: tuple[int, int, int]
    binary: int
    other: int
    paper_total: str
    paper_binary: str
    paper_other: str
    remark: str

    @property
    def share(self) -> float:
        """B / (B + NB)"""
        return self.binary / (self.binary + self.other)


def convolution_weights(layer: nn.Module) -> int:
    return layer.weight.numel() if isinstance(layer, (nn.Conv2d, BinaryConv2d)) else 0


def other_weights(layer: nn.Module) -> int:
    if isinstance(layer, nn.BatchNorm2d):
        return layer.num_features * (4 if layer.affine else 2)
    if isinstance(layer, Blur):
        return layer.kernel.numel()
    if isinstance(layer, nn.Conv2d):
        return 0 if layer.bias is None else layer.bias.numel()
    return 0 if isinstance(layer, BinaryConv2d) else sum(p.numel() for p in layer.parameters())


def layers_after(graph: fx.GraphModule, path: str) -> list[nn.Module]:
    """The layers whose output depends on the output of the layer at `path`."""
    after: set[fx.Node] = set()
    layers: list[nn.Module] = []
    for node in graph.graph.nodes:
        if node.target == path:
            after.add(node)
        elif after & set(node.all_input_nodes):
            after.add(node)
            if node.op == "call_module":
                layers.append(graph.get_submodule(str(node.target)))
    return layers


def count(name: str) -> list[Row]:
    """The rows of one model, with the number of classes and the image size of the paper's table."""
    model = build(name, CLASSES[name])
    graph = trace(model)
    every = [graph.get_submodule(str(n.target)) for n in graph.graph.nodes if n.op == "call_module"]
    total = sum(convolution_weights(layer) + other_weights(layer) for layer in every)
    tensors = level_tensors(model, torch.zeros(1, 3, SIZE[name], SIZE[name]))
    rows = []
    levels: dict[str, str] = model.levels  # type: ignore[assignment]
    for level, path in levels.items():
        layers = layers_after(graph, path)
        _, channels, height, width = tensors[level].shape
        paper_total, _, paper_binary, paper_other = PAPER[name, level]
        rows.append(
            Row(
                name,
                total,
                level,
                (height, width, channels),
                sum(map(convolution_weights, layers)),
                sum(map(other_weights, layers)),
                paper_total,
                paper_binary,
                paper_other,
                REMARK.get(name, ""),
            )
        )
    return rows


def table1() -> list[Row]:
    """Every model and level."""
    return [row for name in MODELS for row in count(name)]
