"""A network in floating point that rounds where the engine rounds: what the engine's forward pass is checked against.

    twin = Twin(graph)                      the whole graph, q_f 8
    twin(images).argmax(1)                  images uint8 (N, H, W, C), as the door leaves them

Layers are PyTorch's, in float64, and every node with a range is brought to its grid. A binary network turns the
smallest difference into flipped signs, so weights are those that the engine stores, and the numbers of BatchNorm,
RSign, RPReLU and means those that the compiler has rounded to its binary points. With `rounds=False` nothing is
rounded: the network as it was converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bitreplay.engine.arithmetic.fixedpoint import wide
from bitreplay.engine.arithmetic.quant import Activation, quantise_samples
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.graph import Fixed, Graph, Node
from bitreplay.engine.layers import LAYERS as ENGINE
from bitreplay.engine.layers.integer_conv import quantise_weights
from bitreplay.engine.operations import OPERATIONS
from bitreplay.engine.reference import ReferenceMachine
from bitreplay.torch.twin.float_tail import LAYERS, ChannelsLast, real


def half_away(x: Tensor) -> Tensor:
    """The nearest integer, halves away from zero."""
    return torch.sign(x) * torch.floor(x.abs() + 0.5)


def to_grid(steps: Tensor, spec: Activation) -> Tensor:
    """The real number that the engine stores for this many steps."""
    return half_away(steps).clamp(spec.low - spec.zero, spec.high - spec.zero) * float(spec.scale)


@dataclass(frozen=True)
class NodeConstants:
    """What the compiler records of a node: the attributes of its forward record and its constants."""

    operation: str
    attributes: dict[str, int]
    constants: dict[str, Tensor]

    def channel(self, name: str) -> Tensor:
        return self.constants[name].view(-1, 1, 1)


def units(x: Tensor, value: Value) -> Tensor:
    """Real numbers as the integers that stand for them."""
    scales = torch.tensor([float(scale) for scale in value.channel_scales], dtype=torch.float64)
    return torch.round(x / scales.view(-1, 1, 1))


def affine(k: NodeConstants, inputs: list[tuple[Tensor, Value]]) -> Tensor:
    """Steps of y, from the folded a and b and the shortcut's factor."""
    up = 2.0 ** k.attributes.get("up", 0)
    total = (units(*inputs[0]) * k.channel("a") + k.channel("b")) * up
    if len(inputs) > 1:
        total = total + units(*inputs[1]) * k.attributes["residual_factor"]
    return total * 2.0 ** -k.attributes["shift"]


def rprelu(k: NodeConstants, inputs: list[tuple[Tensor, Value]]) -> Tensor:
    z = units(*inputs[0]) * 2.0 ** k.attributes["point"] - k.channel("s")
    slope = torch.where(z > 0, float(k.attributes["one"]), k.channel("b"))
    return (z * slope + k.channel("o")) * 2.0 ** -k.attributes["shift"]


def rsign(k: NodeConstants, inputs: list[tuple[Tensor, Value]]) -> Tensor:
    above = units(*inputs[0]) * 2.0 ** k.attributes["point"] >= k.channel("threshold")
    return torch.where(above, 1.0, -1.0).double()


def average_pool(k: NodeConstants, inputs: list[tuple[Tensor, Value]]) -> Tensor:
    """Steps of y, from the compiler's multiplier: at half a step it decides."""
    window = k.attributes["window_h"], k.attributes["window_w"]
    sums = torch.round(nn.functional.avg_pool2d(units(*inputs[0]), window) * (window[0] * window[1]))
    return sums * k.attributes["mantissa"] * 2.0 ** -k.attributes["shift"]


ALIKE = {
    "affine": affine, "affine_fine": affine, "average_pool": average_pool, "rprelu": rprelu, "pack_signs_above": rsign,
}  # fmt: skip


class Head(nn.Module):
    """The dense layer with the numbers of the graph."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.flat = ChannelsLast()
        self.register_buffer("weight", real(node, "weights"))
        self.register_buffer("bias", real(node, "bias"))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(self.flat(x), self.get_buffer("weight"), self.get_buffer("bias"))


def stored_weights(node: Node, bits: int) -> Tensor:
    """Real weights at `bits` bits: one scale an output channel, in the head one power of two for all."""
    weights = node.arrays["weights"]
    assert isinstance(weights, Fixed)
    if node.kind == "dense":
        head, exponents = quantise_samples(wide(weights.values)[None], np.zeros(1, np.int64), bits)
        return torch.from_numpy(head[0] * 2.0 ** (int(exponents[0]) - weights.shift))
    stored, scales = quantise_weights(weights.values, weights.shift, bits)
    kernels = stored.reshape(*stored.shape[:3], -1) * np.array([float(scale) for scale in scales]).reshape(-1, 1, 1, 1)
    return torch.from_numpy(kernels).permute(0, 3, 1, 2)


class Twin(nn.Module):
    """uint8 images -> logits."""

    def __init__(self, graph: Graph, forward_bits: int = 8, rounds: bool = True) -> None:
        super().__init__()
        self.image, *self.nodes = graph.nodes
        self.rounds = rounds
        self.compiled, self.numbers = compile_forward(graph, forward_bits)
        channels = {self.image.name: graph.input_shape[2]}
        self.layers = nn.ModuleList()
        for node in self.nodes:
            read = [channels[name] for name in node.inputs]
            width = sum(read) if node.kind == "concat" else read[0]
            layer = Head(node) if node.kind == "dense" else LAYERS[node.kind](node, width)
            channels[node.name] = getattr(layer, "outputs", width)
            self.layers.append(layer.double())
            if rounds and node.kind in ("integer_conv", "depthwise_conv", "dense"):
                layer.get_buffer("weight").copy_(stored_weights(node, forward_bits))
        self.eval()

    @property
    def dtype(self) -> torch.dtype:
        return next(buffer.dtype for buffer in self.buffers())

    def pixels(self, images: NDArray[np.uint8]) -> Tensor:
        table = self.image.arrays["table"]
        assert isinstance(table, np.ndarray)
        scaled = table[images, np.arange(images.shape[3])] / int(self.image.attributes["scale_denominator"])
        return torch.from_numpy(scaled).permute(0, 3, 1, 2).to(self.dtype)

    def layer(self, node: Node, layer: nn.Module, inputs: list[Tensor]) -> Tensor:
        """What the node makes of these real numbers."""
        spec = self.compiled[node.name].activation
        if not self.rounds:
            return layer(*inputs)
        numbers = self.numbers.get(node.name)
        if numbers is None:
            y = layer(*inputs)
            return y if spec is None else to_grid(y / float(spec.scale), spec)
        y = ALIKE[numbers.operation](numbers, [(x, self.compiled[n]) for x, n in zip(inputs, node.inputs, strict=True)])
        return y if spec is None else to_grid(y, spec)

    @torch.no_grad()
    def values(self, images: NDArray[np.uint8]) -> Iterator[tuple[Node, list[Tensor], Tensor]]:
        """Each node in order, what it read and what it yields."""
        values = {self.image.name: self.pixels(images)}
        for node, layer in zip(self.nodes, self.layers, strict=True):
            inputs = [values[name] for name in node.inputs]
            values[node.name] = self.layer(node, layer, inputs)
            yield node, inputs, values[node.name]

    def forward(self, images: NDArray[np.uint8]) -> Tensor:
        *_, (_, _, logits) = self.values(images)
        return logits


def compile_forward(graph: Graph, forward_bits: int) -> tuple[dict[str, Value], dict[str, NodeConstants]]:
    """The compiler's values of all nodes, and the numbers of those nodes that the twin computes alike."""
    builder = Builder(graph, Bits(forward_bits, 1, 16), 1, "nothing", keep=True)
    records: dict[str, Any] = {}
    for node in graph.nodes:
        inputs, emitted = [builder.values[name] for name in node.inputs], len(builder.records)
        builder.values[node.name] = ENGINE[node.kind](node).forward(builder, inputs)
        if len(builder.records) > emitted and builder.records[-1].operation in ALIKE:
            records[node.name] = builder.records[-1]
    machine = ReferenceMachine(builder.finish())
    numbers = {}
    for name, record in records.items():
        entry = OPERATIONS[record.operation]
        tensors = [machine.program.tensors[at] for at in record.tensors if at >= 0]
        roles = [role for role, at in zip(entry.tensors, record.tensors, strict=True) if at >= 0]
        constants = {
            role: torch.from_numpy(np.array(machine.read(tensor.name, 1))).double().flatten()
            for role, tensor in zip(roles, tensors, strict=True)
            if tensor.region == "constant"
        }
        numbers[name] = NodeConstants(
            record.operation, dict(zip(entry.attributes, record.attributes, strict=True)), constants
        )
    return builder.values, numbers
