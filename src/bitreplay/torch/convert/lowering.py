"""Traced module -> engine nodes, in order.

A BatchNorm and the sum behind it become one node, named after the sum, with the shortcut as second input. Sums are
named add, add_1, ... in order (as Keras counts), a replay layer takes its given name, others their path. A
convolution yields exact sums, which BatchNorm reads, also behind ReLU and max-pool; before any other layer, and at a
replay layer, sums are rounded to activations by a BatchNorm that changes nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import fx, nn
from torch.nn import functional as F

from bitreplay.engine.graph import Node
from bitreplay.torch.convert import layer_table as layers
from bitreplay.torch.convert.layer_table import TABLE, TRANSPARENT, Concat, ConversionError, LoweredLayer
from bitreplay.torch.models.binarize import BinaryConv2d, ClippedSign, PolynomialSign
from bitreplay.torch.models.layers import Add, Blur, DropFirst, SameConv2d

LONGEST_NAME = 30

# What a kind yields, where that is not activations.
FORMS = {
    "integer_conv": "sums", "depthwise_conv": "sums", "binary_conv": "sums",
    "sign": "signs", "rsign": "signs", "dense": "logits", "image": "image",
}  # fmt: skip
KEEP_SUMS = (nn.ReLU, nn.MaxPool2d)

# Functions and methods that stand for a layer.
CALLS: dict[Any, Callable[[], nn.Module]] = {
    operator.add: Add, operator.iadd: Add, torch.add: Add, "add": Add, torch.cat: Concat,
    torch.flatten: nn.Flatten, "flatten": nn.Flatten, torch.relu: nn.ReLU, F.relu: nn.ReLU, "relu": nn.ReLU,
}  # fmt: skip


def windows(nodes: list[Node]) -> dict[str, tuple[Fraction, Fraction]]:
    """The interval that matters of values which nothing but signs or one clip reads; outside it they may saturate.

    Of a sign it is the window of its derivative: 1 for 2 - 2|x| and the clip for the clipped identity; a sixteenth more
    keeps its end inside. So VGG's BatchNorms get steps several times finer than their spread would allow. Stored
    in the interval of a clip, values need no clip.
    """
    found: dict[str, tuple[Fraction, Fraction]] = {}
    for node in nodes:
        readers = [reader for reader in nodes if node.name in reader.inputs]
        kinds = [reader.kind for reader in readers]
        if readers and set(kinds) == {"sign"}:
            widest = max(Fraction(str(reader.attributes.get("clip", 1))) for reader in readers)
            window = Fraction(float(np.float32(widest * Fraction(17, 16))))
            found[node.name] = (-window, window)
        elif kinds == ["clip"] and {"low", "high"} <= readers[0].attributes.keys():
            low, high = (Fraction(str(readers[0].attributes[end])) for end in ("low", "high"))
            found[node.name] = (low, high)
    return found


def clipped_inside(nodes: list[Node]) -> dict[str, str]:
    """Clip -> the value that it reads, where nothing else reads that: both have one range."""
    within = windows(nodes)
    return {node.name: node.inputs[0] for node in nodes if node.kind == "clip" and node.inputs[0] in within}


@dataclass
class Lowered:
    """Engine nodes; for each the traced value that it computes (what calibration looks at) and the form it yields."""

    nodes: list[Node] = field(default_factory=list)
    values: dict[str, fx.Node] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)

    def ranged(self) -> dict[str, fx.Node]:
        """The nodes that yield activations and need a range."""
        return {name: value for name, value in self.values.items() if self.forms[name] == "activations"}


class Lowering:
    """One walk over the traced module. `shapes` holds the shape of every traced value for one image."""

    def __init__(
        self, traced: fx.GraphModule, shapes: dict[fx.Node, tuple[int, ...]], replay_layers: dict[str, str]
    ) -> None:
        self.traced, self.shapes = traced, shapes
        self.replay_layer_at = {path: name for name, path in replay_layers.items()}
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

    # looking at the traced module

    def layer(self, node: fx.Node) -> nn.Module:
        if node.op == "call_module":
            return self.traced.get_submodule(str(node.target))
        if node.op in ("call_function", "call_method") and node.target in CALLS:
            self._check_call(node)
            return CALLS[node.target]()
        raise ConversionError(f"{node.op} is not a layer that the engine has")

    def _check_call(self, node: fx.Node) -> None:
        """The arguments that change what a call computes; its layer has none of them."""
        if node.kwargs.get("alpha", 1) != 1:
            raise ConversionError(f"alpha is {node.kwargs['alpha']}; a plain sum can be expressed")
        if node.target is torch.cat:
            dim: Any = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", node.kwargs.get("axis", 0))
            if dim % len(self.shapes[node]) != 1:
                raise ConversionError(f"dim is {dim}; maps can be joined along their channels, dim 1")

    def title(self, node: fx.Node) -> str:
        kind = type(self.traced.get_submodule(str(node.target))).__name__ if node.op == "call_module" else node.op
        return f"{node.target if node.op == 'call_module' else node.name} ({kind})"

    def is_a(self, node: fx.Node, kinds: type[nn.Module] | tuple[type[nn.Module], ...]) -> bool:
        try:
            return isinstance(self.layer(node), kinds)
        except ConversionError:
            return False

    def source(self, node: fx.Node) -> fx.Node:
        """The value behind layers that change nothing."""
        while self.is_a(node, TRANSPARENT):
            node = node.all_input_nodes[0]
        return node

    def readers(self, node: fx.Node, passing: tuple[type[nn.Module], ...] = TRANSPARENT) -> list[fx.Node]:
        """The layers that read a value, seen through those of the `passing` kinds."""
        nodes = []
        for user in node.users:
            passes = self.is_a(user, passing) and str(user.target) not in self.replay_layer_at
            nodes += self.readers(user, passing) if passes else [user]
        return nodes

    def norms_before_signs(self) -> dict[fx.Node, nn.BatchNorm2d]:
        """BatchNorms with gamma and beta that nothing but plain signs reads."""
        norms: dict[fx.Node, nn.BatchNorm2d] = {}
        for node in self.traced.graph.nodes:
            layer = self.layer(node) if self.is_a(node, nn.BatchNorm2d) else None
            if isinstance(layer, nn.BatchNorm2d) and layer.affine and str(node.target) not in self.replay_layer_at:
                if all(self.is_a(reader, (PolynomialSign, ClippedSign)) for reader in self.readers(node)):
                    norms[node] = layer
        return norms

    def _folded_norms(self) -> dict[fx.Node, fx.Node]:
        """Sum -> the BatchNorm that it takes in: one that nothing else reads, best behind a binary convolution."""
        folded: dict[fx.Node, fx.Node] = {}
        for node in self.traced.graph.nodes:
            if self.is_a(node, Add):
                terms = [self.source(term) for term in node.all_input_nodes]
                norms = [
                    term for term in terms
                    if self.is_a(term, nn.BatchNorm2d) and self.readers(term) == [node]
                    and str(term.target) not in self.replay_layer_at
                ]  # fmt: skip
                norms.sort(key=lambda term: not self.is_a(self.source(term.all_input_nodes[0]), BinaryConv2d))
                if norms and len(terms) == 2:
                    folded[node] = norms[0]
        return folded

    def _image(self, node: fx.Node) -> None:
        if "image" in self.result.values:
            raise ConversionError("The module has more than one input; one image is expected.")
        table = (2 * np.arange(256) - 255).astype(np.int16)[:, None].repeat(self.shapes[node][1], axis=1)
        self._emit(node, "image", LoweredLayer("image", {"scale_denominator": 255}, {"table": table}), ())

    def _emit(self, node: fx.Node, name: str, lowered: LoweredLayer, inputs: tuple[str, ...]) -> None:
        if name in self.result.values:
            raise ConversionError(f"its name {name!r} is taken (a module used twice is two layers to the engine)")
        self.result.nodes.append(Node(name, lowered.kind, inputs, lowered.attributes, lowered.arrays))
        self.result.values[name] = node
        keeps = lowered.kind in ("relu", "max_pool") and self.result.forms[inputs[0]] == "sums"
        self.result.forms[name] = "sums" if keeps else FORMS.get(lowered.kind, "activations")
        self.names[node], self.offsets[node] = name, lowered.offset

    def _name(self, node: fx.Node) -> str:
        path = str(node.target) if node.op == "call_module" else node.name
        if path in self.replay_layer_at:
            return self.replay_layer_at[path]
        return path if len(path.encode()) <= LONGEST_NAME else f"layer_{len(self.result.nodes)}"

    def _layer(self, node: fx.Node, layer: nn.Module) -> None:
        inputs = [self.source(term) for term in node.all_input_nodes]
        if isinstance(layer, TRANSPARENT):
            return
        if isinstance(layer, nn.ZeroPad2d):
            if not all(self.is_a(reader, nn.Conv2d) for reader in self.readers(node)):
                raise ConversionError("only a convolution can take in the padding")
            return
        if isinstance(layer, Add):
            return self._sum(node, inputs)
        if isinstance(layer, nn.Linear) and any(reader.op != "output" for reader in self.readers(node)):
            raise ConversionError("the last layer alone may be linear")
        name, read = self._name(node), self._read(inputs)
        if isinstance(layer, Blur):
            lowered, uneven = layers.blur(layer, *self.shapes[inputs[0]][2:])
            if uneven:
                self._emit(node, f"{name}.wide", lowered, read)
                lowered, read = layers.drop_first(self.shapes[node][1]), (f"{name}.wide",)
        else:
            lowered = self._lower_layer(layer, inputs)
        self._emit(node, name, lowered, read)
        self._round_sums(node)

    def _lower_layer(self, layer: nn.Module, inputs: list[fx.Node]) -> LoweredLayer:
        """What a layer becomes, given the values that it reads."""
        shape = self.shapes[inputs[0]]
        if isinstance(layer, nn.BatchNorm2d):
            return layers.batchnorm(layer, self.offsets[inputs[0]])
        if isinstance(layer, SameConv2d):
            return layers.same_conv(layer, *shape[2:])
        if isinstance(layer, nn.Conv2d):
            front = self.layer(inputs[0]) if self.is_a(inputs[0], nn.ZeroPad2d) else None
            return layers.integer_conv(layer, layers.zero_pad(front) if isinstance(front, nn.ZeroPad2d) else (0, 0))
        if isinstance(layer, nn.Linear):
            channels, height, width = (*shape[1:], 1, 1)[:3]
            return layers.dense(layer, (channels, height, width))
        if isinstance(layer, nn.PReLU):
            return layers.prelu(layer, shape[1])
        if isinstance(layer, DropFirst):
            return layers.drop_first(shape[1])
        if type(layer) not in TABLE:
            raise ConversionError("the engine has no such layer")
        return TABLE[type(layer)](layer)

    def _read(self, inputs: list[fx.Node]) -> tuple[str, ...]:
        unpadded = [self.source(x.all_input_nodes[0]) if self.is_a(x, nn.ZeroPad2d) else x for x in inputs]
        return tuple(self.names[term] for term in unpadded)

    def _sum(self, node: fx.Node, inputs: list[fx.Node]) -> None:
        default = "add" if self.sums == 0 else f"add_{self.sums}"
        self.sums += 1
        name = self.replay_layer_at.get(str(node.target), default)
        if len(inputs) != 2:
            raise ConversionError("a sum of two layers' outputs is expected")
        norm = self.folded.get(node)
        if norm is None:
            return self._emit(node, name, LoweredLayer("add", {}, {}), self._read(inputs))
        layer = self.layer(norm)
        assert isinstance(layer, nn.BatchNorm2d)
        x = self.source(norm.all_input_nodes[0])
        shortcut = inputs[1] if inputs[0] is norm else inputs[0]
        self._emit(node, name, layers.batchnorm(layer, self.offsets[x]), self._read([x, shortcut]))

    def _round_sums(self, node: fx.Node) -> None:
        name, lowered = self.names[node], self.result.nodes[-1]
        if self.result.forms[name] != "sums" or (
            lowered.kind in ("relu", "max_pool") and not self._at_replay_layer(node)
        ):
            return
        # ReLU does not let a bias pass to the BatchNorm behind it.
        passing = TRANSPARENT + (KEEP_SUMS if self.offsets[node] is None else ())
        if not self._at_replay_layer(node) and all(self.is_a(r, nn.BatchNorm2d) for r in self.readers(node, passing)):
            return
        raw = f"{name}.sums"
        self.result.nodes[-1] = replace(lowered, name=raw)
        self.result.values[raw], self.result.forms[raw] = self.result.values.pop(name), self.result.forms.pop(name)
        self._emit(node, name, layers.rounding(self.shapes[node][1], self.offsets[node]), (raw,))

    def _at_replay_layer(self, node: fx.Node) -> bool:
        return str(node.target) in self.replay_layer_at
