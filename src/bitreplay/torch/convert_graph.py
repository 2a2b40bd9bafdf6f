"""Traced module -> engine nodes, in order.

A BatchNorm and the sum behind it become one node, named after the sum, with the shortcut as second input. Sums are
named add, add_1, ... in order (as Keras counts), the layer at a replay level takes the level's name, others their path.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import fx, nn
from torch.nn import functional as F

from bitreplay.engine.graph import Node

from . import convert_layers as layers
from .binarize import BinaryConv2d
from .convert_layers import TABLE, TRANSPARENT, ConversionError, Made
from .layers import Add

LONGEST_NAME = 30
SUMS = ("integer_conv", "binary_conv")

# Functions and methods that stand for a layer.
CALLS: dict[Any, Callable[[], nn.Module]] = {
    operator.add: Add, operator.iadd: Add, torch.add: Add, "add": Add,
    torch.flatten: nn.Flatten, "flatten": nn.Flatten,
    torch.relu: nn.ReLU, F.relu: nn.ReLU, "relu": nn.ReLU,
}  # fmt: skip


@dataclass
class Lowered:
    """Engine nodes, and for each the traced value that it computes (what calibration looks at)."""

    nodes: list[Node] = field(default_factory=list)
    values: dict[str, fx.Node] = field(default_factory=dict)
    norms: dict[str, fx.Node] = field(default_factory=dict)


class Lowering:
    """One walk over the traced module. `shapes` holds the shape of every traced value for one image."""

    def __init__(self, traced: fx.GraphModule, shapes: dict[fx.Node, tuple[int, ...]], levels: dict[str, str]) -> None:
        self.traced, self.shapes = traced, shapes
        self.level_at = {path: name for name, path in levels.items()}
        self.result = Lowered()
        self.names: dict[fx.Node, str] = {}
        self.offsets: dict[fx.Node, NDArray[np.float64] | None] = {}
        self.sums = 0
        self.folded = self._folded_norms()

    def run(self) -> Lowered:
        for node in self.traced.graph.nodes:
            if node.op == "placeholder":
                self._image(node)
            elif node.op != "output" and node not in self.folded.values():
                try:
                    self._layer(node, self.layer(node))
                except ConversionError as error:
                    raise ConversionError(f"Layer {self.title(node)} cannot be converted: {error}.") from None
        return self.result

    def layer(self, node: fx.Node) -> nn.Module:
        if node.op == "call_module":
            return self.traced.get_submodule(str(node.target))
        if node.op in ("call_function", "call_method") and node.target in CALLS:
            return CALLS[node.target]()
        raise ConversionError(f"{node.op} is not a layer that the engine has")

    def title(self, node: fx.Node) -> str:
        kind = type(self.traced.get_submodule(str(node.target))).__name__ if node.op == "call_module" else node.op
        return f"{node.target if node.op == 'call_module' else node.name} ({kind})"

    def is_a(self, node: fx.Node, kind: type[nn.Module]) -> bool:
        try:
            return isinstance(self.layer(node), kind)
        except ConversionError:
            return False

    def source(self, node: fx.Node) -> fx.Node:
        """The value behind layers that change nothing."""
        while self.is_a(node, nn.Module) and isinstance(self.layer(node), TRANSPARENT):
            node = node.all_input_nodes[0]
        return node

    def readers(self, node: fx.Node) -> list[fx.Node]:
        """The layers that read a value, seen through those that change nothing."""
        found = []
        for user in node.users:
            passes = self.is_a(user, nn.Module) and isinstance(self.layer(user), TRANSPARENT)
            found += self.readers(user) if passes else [user]
        return found

    def _folded_norms(self) -> dict[fx.Node, fx.Node]:
        """Sum -> the BatchNorm that it takes in: one that nothing else reads, best behind a binary convolution."""
        found: dict[fx.Node, fx.Node] = {}
        for node in self.traced.graph.nodes:
            if self.is_a(node, Add):
                norms = [
                    term for term in node.all_input_nodes
                    if self.is_a(term, nn.BatchNorm2d) and len(term.users) == 1 and term.target not in self.level_at
                ]  # fmt: skip
                norms.sort(key=lambda term: not self.is_a(self.source(term.all_input_nodes[0]), BinaryConv2d))
                if norms:
                    found[node] = norms[0]
        return found

    def _image(self, node: fx.Node) -> None:
        if "image" in self.result.values:
            raise ConversionError("The module has more than one input; one image is expected.")
        table = (2 * np.arange(256) - 255).astype(np.int16)[:, None].repeat(self.shapes[node][1], axis=1)
        self._emit(node, "image", Made("image", {"scale_denominator": 255}, {"table": table}), ())

    def _emit(self, node: fx.Node, name: str, made: Made, inputs: tuple[str, ...]) -> None:
        if name in self.result.values:
            raise ConversionError(f"its name {name!r} is taken (a module used twice is two layers to the engine)")
        self.result.nodes.append(Node(name, made.kind, inputs, made.attributes, made.arrays))
        self.result.values[name] = node
        self.names[node] = name
        self.offsets[node] = made.offset

    def _name(self, node: fx.Node) -> str:
        path = str(node.target) if node.op == "call_module" else node.name
        if path in self.level_at:
            return self.level_at[path]
        return path if len(path.encode()) <= LONGEST_NAME else f"layer_{len(self.result.nodes)}"

    def _layer(self, node: fx.Node, layer: nn.Module) -> None:
        inputs = [self.source(term) for term in node.all_input_nodes]
        if isinstance(layer, TRANSPARENT):
            self.names[node] = self.names[inputs[0]]
        elif isinstance(layer, Add):
            self._sum(node)
        elif isinstance(layer, nn.BatchNorm2d):
            self._emit(node, self._name(node), layers.batchnorm(layer, self.offsets[inputs[0]]), self._read(inputs))
            self.result.norms[self.names[node]] = node
        elif isinstance(layer, nn.Linear):
            channels, height, width = (*self.shapes[inputs[0]][1:], 1, 1)[:3]
            self._emit(node, self._name(node), layers.dense(layer, (channels, height, width)), self._read(inputs))
        elif type(layer) in TABLE:
            self._emit(node, self._name(node), TABLE[type(layer)](layer), self._read(inputs))
            self._round_sums(node)
        else:
            raise ConversionError("the engine has no such layer")

    def _read(self, inputs: list[fx.Node]) -> tuple[str, ...]:
        return tuple(self.names[term] for term in inputs)

    def _sum(self, node: fx.Node) -> None:
        default = "add" if self.sums == 0 else f"add_{self.sums}"
        self.sums += 1
        name = self.level_at.get(str(node.target), default)
        if node not in self.folded:
            raise ConversionError("neither term of the sum is a BatchNorm of its own")
        norm = self.folded[node]
        layer = self.layer(norm)
        assert isinstance(layer, nn.BatchNorm2d)
        x = self.source(norm.all_input_nodes[0])
        shortcuts = [self.source(term) for term in node.all_input_nodes if term is not norm]
        if len(shortcuts) != 1:
            raise ConversionError("a sum of two layers' outputs is expected")
        self._emit(node, name, layers.batchnorm(layer, self.offsets[x]), self._read([x, shortcuts[0]]))
        self.result.norms[name] = norm

    def _round_sums(self, node: fx.Node) -> None:
        """A convolution at a level, or one that another layer than BatchNorm reads, is brought to activations first."""
        name, made = self.names[node], self.result.nodes[-1]
        exact = str(node.target) not in self.level_at and all(self.is_a(r, nn.BatchNorm2d) for r in self.readers(node))
        if made.kind not in SUMS or exact:
            return
        raw = f"{name}.sums"
        self.result.nodes[-1] = replace(made, name=raw)
        self.result.values[raw] = self.result.values.pop(name)
        rounded = layers.rounding(self.shapes[node][1], self.offsets[node])
        self._emit(node, name, rounded, (raw,))
