"""A network in floating point that rounds where the engine rounds: what the engine's forward pass is checked against.

    twin = Twin(graph)                      the whole graph, q_f 8
    twin(images).argmax(1)                  images uint8 (N, H, W, C), as the door leaves them

It shares no arithmetic with the engine: layers are PyTorch's in float64, and every node with a range is brought to
its grid. `rounds=False` leaves the rounding out: the network as it was converted, with its parameters in fixed point.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bitreplay.engine.graph import Graph, Node
from bitreplay.engine.quant import Activation

from .float_tail import LAYERS, ChannelsLast, real


def to_grid(x: Tensor, spec: Activation) -> Tensor:
    """The nearest real number that `spec` can store, halves away from zero."""
    steps = x / float(spec.scale)
    nearest = torch.sign(steps) * torch.floor(steps.abs() + 0.5)
    return nearest.clamp(spec.low - spec.zero, spec.high - spec.zero) * float(spec.scale)


class Head(nn.Module):
    """The dense layer with the numbers of the graph."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.flat = ChannelsLast()
        self.register_buffer("weight", real(node, "weights"))
        self.register_buffer("bias", real(node, "bias"))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(self.flat(x), self.get_buffer("weight"), self.get_buffer("bias"))


class Twin(nn.Module):
    """uint8 images -> logits. `rounds` may also be the names of the nodes that round."""

    def __init__(self, graph: Graph, forward_bits: int = 8, rounds: bool | Collection[str] = True) -> None:
        super().__init__()
        image, *nodes = graph.nodes
        assert image.kind == "image", "a graph begins with its image"
        self.image, self.nodes = image, nodes
        names = [] if rounds is False else graph.ranges if rounds is True else rounds
        self.specs = {name: Activation.of_range(*graph.ranges[name], forward_bits) for name in names}
        channels = {image.name: graph.input_shape[2]}
        self.layers = nn.ModuleList()
        for node in nodes:
            read = [channels[name] for name in node.inputs]
            width = sum(read) if node.kind == "concat" else read[0]
            layer = Head(node) if node.kind == "dense" else LAYERS[node.kind](node, width)
            channels[node.name] = getattr(layer, "outputs", width)
            self.layers.append(layer)
        self.double().eval()

    def pixels(self, images: NDArray[np.uint8]) -> Tensor:
        table = self.image.arrays["table"]
        assert isinstance(table, np.ndarray)
        scaled = table[images, np.arange(images.shape[3])] / int(self.image.attributes["scale_denominator"])
        return torch.from_numpy(scaled).permute(0, 3, 1, 2)

    def values(self, images: NDArray[np.uint8]) -> Iterator[tuple[Node, list[Tensor], Tensor]]:
        """Each node in order, what it read and what it yields."""
        found = {self.image.name: self.pixels(images)}
        for node, layer in zip(self.nodes, self.layers, strict=True):
            inputs = [found[name] for name in node.inputs]
            y = layer(*inputs)
            found[node.name] = to_grid(y, self.specs[node.name]) if node.name in self.specs else y
            yield node, inputs, found[node.name]

    @torch.no_grad()
    def forward(self, images: NDArray[np.uint8]) -> Tensor:
        *_, (_, _, logits) = self.values(images)
        return logits
