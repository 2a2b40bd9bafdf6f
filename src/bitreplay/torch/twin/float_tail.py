"""The tail in floating point: the twin of what the engine trains, to compare with (the `float` setting).

    tail = FloatTail(graph, "add_12", classes=10)
    optimiser = torch.optim.SGD(tail.parameters(), lr=0.01)
    tail.loss(words, labels).backward(); optimiser.step()

It is built from the graph, not from the module that the graph came from: the same numbers, the same kept BatchNorm
statistics, the same code at the replay layer. Parameters are what the engine learns: gamma, beta, thresholds, slopes,
the weights of convolutions marked so, and the head, which starts at 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from bitreplay.engine.arithmetic.packing import signs, unpack, words_for
from bitreplay.engine.arithmetic.quant import SIGNIFICANT, Activation
from bitreplay.engine.graph import Fixed, Graph, Node
from bitreplay.torch.models.binarize import ClippedSign, PolynomialSign, RPReLU, RSign
from bitreplay.torch.models.layers import Add, Blur, PaddedMaxPool


class FloatTail(nn.Module):
    """Level -> logits over `classes`. Classes that are not `active` have the logit -inf and no gradient.

    `forward_bits` is the q_f of the backbone; it matters for codes of 8 bits and more, which are cut from its integers.
    """

    active: Tensor

    def __init__(
        self, graph: Graph, replay_layer: str, classes: int, latent_bits: int = 1, *, forward_bits: int = 8
    ) -> None:
        super().__init__()
        self.replay_layer, self.latent_bits, self.classes = replay_layer, latent_bits, classes
        self.shape = graph.shapes[replay_layer]
        self.nodes = graph.nodes[graph.position(replay_layer) + 1 :]
        self.code = graph.replay_layers[replay_layer].get(latent_bits)
        self.spec = Activation.of_range(*graph.ranges[replay_layer], forward_bits)
        channels = {replay_layer: self.shape[2]}
        self.layers = nn.ModuleList()
        for node in self.nodes:
            read = [channels[name] for name in node.inputs]
            layer = LAYERS[node.kind](node, sum(read) if node.kind == "concat" else read[0])
            channels[node.name] = getattr(layer, "outputs", read[0])
            self.layers.append(layer)
        head = self.nodes[-1].arrays["weights"]
        assert isinstance(head, Fixed)
        self.head = nn.Linear(head.values.shape[1], classes)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self.register_buffer("active", torch.ones(classes, dtype=torch.bool))

    def decode(self, words: NDArray[np.uint64]) -> Tensor:
        """Code words (N, H, W, planes) -> real numbers (N, H, W, C)."""
        channels = self.shape[2]
        planes = np.split(words, self.latent_bits, axis=-1)
        assert planes[0].shape[1:] == (*self.shape[:2], words_for(channels)), words.shape
        index = np.zeros((*words.shape[:3], channels), np.int64)
        for number, plane in enumerate(planes):
            index |= unpack(plane, channels).astype(np.int64) << number
        if self.code is not None:
            values = self.code.values.values * 2.0**-self.code.values.shift
            real = values[np.arange(channels), index]
        else:
            cut = max(SIGNIFICANT[self.spec.bits] - self.latent_bits, 0)
            stored = self.spec.low + (index << cut) + ((1 << cut) >> 1)
            real = (stored - self.spec.zero) * float(self.spec.scale)
        return torch.from_numpy(real).to(self.head.weight)

    def forward(self, latents: NDArray[np.uint64] | Tensor) -> Tensor:
        """Logits from code words, or from real numbers (N, H, W, C)."""
        real = latents if isinstance(latents, Tensor) else self.decode(latents)
        values = {self.replay_layer: real.permute(0, 3, 1, 2)}
        for node, layer in zip(self.nodes, self.layers, strict=True):
            values[node.name] = layer(*(values[name] for name in node.inputs))
        logits = self.head(values[self.nodes[-1].name])
        return logits.masked_fill(~self.active, -torch.inf)

    def loss(self, latents: NDArray[np.uint64] | Tensor, labels: NDArray | Tensor) -> Tensor:
        """Mean cross entropy over the active classes."""
        return F.cross_entropy(self(latents), torch.as_tensor(labels).long().to(self.head.weight.device))


def real(node: Node, name: str) -> Tensor:
    array = node.arrays[name]
    assert isinstance(array, Fixed)
    return torch.from_numpy(array.values * 2.0**-array.shift).float()


def number(node: Node, name: str, default: int) -> int:
    return int(node.attributes.get(name, default))


class KeptNorm(nn.Module):
    """gamma (x - mean) / sigma + beta [+ shortcut]; mean and sigma never change."""

    gamma: Tensor
    beta: Tensor
    mean: Tensor
    inverse: Tensor

    def __init__(self, node: Node, channels: int) -> None:
        super().__init__()
        for name in ("gamma", "beta"):
            numbers = real(node, name).view(-1, 1, 1)
            if number(node, "learns", 1):
                self.register_parameter(name, nn.Parameter(numbers))
            else:
                self.register_buffer(name, numbers)
        self.register_buffer("mean", real(node, "mean").view(-1, 1, 1))
        self.register_buffer("inverse", real(node, "inverse_sigma").view(-1, 1, 1))

    def forward(self, x: Tensor, shortcut: Tensor | None = None) -> Tensor:
        y = self.gamma * ((x - self.mean) * self.inverse) + self.beta
        return y if shortcut is None else y + shortcut


class FrozenConv(nn.Module):
    """Convolution with weights (outputs, k, k, inputs): signs times a factor, or real numbers, which may learn."""

    weight: Tensor

    def __init__(self, weight: Tensor, node: Node, pad: int, *, outside: float = 0.0, groups: int = 1) -> None:
        super().__init__()
        self.stride, self.outside, self.groups = number(node, "stride", 1), outside, groups
        before = number(node, "pad", pad)
        after = number(node, "pad_after", before)
        self.around = (before, after, before, after)
        self.outputs = len(weight)
        weight = weight.permute(0, 3, 1, 2).contiguous()
        if number(node, "learns", 0):
            self.weight = nn.Parameter(weight)
        else:
            self.register_buffer("weight", weight)

    def forward(self, x: Tensor) -> Tensor:
        padded = F.pad(x, self.around, value=self.outside)
        return F.conv2d(padded, self.weight, stride=self.stride, groups=self.groups)


def binary_conv(node: Node, channels: int) -> nn.Module:
    words = node.arrays["weights"]
    assert isinstance(words, np.ndarray)
    weight = torch.from_numpy(signs(words, channels)).float() * real(node, "scale").view(-1, 1, 1, 1)
    return FrozenConv(weight, node, 1, outside=1.0 if node.attributes.get("padding") == "one" else 0.0)


def depthwise_conv(node: Node, channels: int) -> nn.Module:
    return FrozenConv(real(node, "weights")[..., None], node, 0, groups=channels)


def sign(node: Node, channels: int) -> nn.Module:
    if node.attributes.get("derivative") == "clipped":
        return ClippedSign(float(node.attributes.get("clip", 1)))
    return PolynomialSign()


def filled(layer: nn.Module, node: Node) -> nn.Module:
    """A layer whose parameters are the arrays of the same names."""
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            parameter.copy_(real(node, name))
    return layer


def prelu(node: Node, channels: int) -> nn.Module:
    layer = nn.PReLU(channels)
    with torch.no_grad():
        layer.weight.copy_(real(node, "slope"))
    return layer


def clip(node: Node, channels: int) -> nn.Module:
    low, high = (float(node.attributes.get(end, default)) for end, default in (("low", "-inf"), ("high", "inf")))
    return nn.Hardtanh(low, high)


def average_pool(node: Node, channels: int) -> nn.Module:
    window = number(node, "window", 0)
    if window == 0:
        return nn.AdaptiveAvgPool2d(1)
    return nn.AvgPool2d(window, number(node, "stride", window), number(node, "pad", 0))


def max_pool(node: Node, channels: int) -> nn.Module:
    window = number(node, "window", 1)
    return PaddedMaxPool(window, number(node, "stride", window), number(node, "pad", 0))


class Joined(nn.Module):
    """Concatenation along channels."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs

    def forward(self, *parts: Tensor) -> Tensor:
        return torch.cat(parts, dim=1)


class ChannelsLast(nn.Module):
    """In front of the head: flattened as the engine does, channels last."""

    def forward(self, x: Tensor) -> Tensor:
        return x.permute(0, 2, 3, 1).flatten(1)


# Kind -> layer, given the node and the channels that it reads.
LAYERS: dict[str, Callable[[Node, int], nn.Module]] = {
    "batchnorm": KeptNorm,
    "sign": sign,
    "rsign": lambda node, channels: filled(RSign(channels), node),
    "rprelu": lambda node, channels: filled(RPReLU(channels), node),
    "prelu": prelu,
    "relu": lambda node, channels: nn.ReLU(),
    "clip": clip,
    "add": lambda node, channels: Add(),
    "concat": lambda node, channels: Joined(channels),
    "binary_conv": binary_conv,
    "integer_conv": lambda node, channels: FrozenConv(real(node, "weights"), node, 0),
    "depthwise_conv": depthwise_conv,
    "average_pool": average_pool,
    "max_pool": max_pool,
    "blur_pool": lambda node, channels: Blur(channels, number(node, "stride", 2), number(node, "pad", 1)),
    "dense": lambda node, channels: ChannelsLast(),
}
