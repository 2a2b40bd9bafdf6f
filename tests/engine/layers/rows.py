"""One row a layer: the small graphs that it is checked in, and its formula in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import torch
from torch import Tensor

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.checks import Oracle, small_graph
from bitreplay.engine.checks.bench import CLASSES, random_head
from bitreplay.engine.graph import Fixed, Graph, Node
from tests.engine.layers.oracle import (
    binary_weights,
    by_autograd,
    conv,
    first,
    last,
    numbers,
    rounded_masters,
    rounded_rows,
    sign,
)
from tests.engine.networks import batchnorm, binary

Shape = tuple[int, int, int]
WIDE = (Fraction(-3), Fraction(3))
# What the pools of the graph read behind a layer that yields sums or signs.
AFTER = {"after": (Fraction(-4), Fraction(4))}


@dataclass(frozen=True)
class Setting:
    """What a row is made for; `seen` collects the gradients that the oracle was asked for and that are not 0."""

    shape: Shape
    bits: Bits
    rng: np.random.Generator
    seen: list[str]

    @property
    def channels(self) -> int:
        return self.shape[2]

    def fixed(self, low: float, high: float, *shape: int) -> Fixed:
        """Q3.28 numbers."""
        return Fixed(np.rint(self.rng.uniform(low, high, shape) * 2**28).astype(np.int32), 28)

    def oracle(self, formula: Callable[..., Tensor], learned: dict[str, np.ndarray] | None = None,
               slack: Fraction | None = None) -> Oracle:  # fmt: skip
        return by_autograd(formula, learned, slack, self.seen)


Row = Callable[[Setting], tuple[Graph, str, Oracle | None]]


def learned(node: Node, *names: str) -> dict[str, np.ndarray]:
    return {name: numbers(node, name) for name in names}


def with_range(s: Setting, node: Node, formula: Callable[..., Tensor], *names: str, ends: tuple = WIDE,
               slack: Fraction | None = None) -> tuple[Graph, str, Oracle]:  # fmt: skip
    """A node that reads `before` and yields activations."""
    graph = small_graph([node], s.shape, {node.name: ends})
    return graph, node.name, s.oracle(formula, learned(node, *names), slack)


def signs_then(s: Setting, node: Node) -> Graph:
    """A node that yields signs, with a binary convolution and a BatchNorm behind it."""
    follow = binary("conv", node.name, 4, s.channels, s.rng)
    return small_graph([node, follow, batchnorm("after", ("conv",), 4, 9 * s.channels, s.rng)], s.shape, AFTER)


def sums_before(s: Setting, outputs: int = 6) -> list[Node]:
    """Exact sums, named `conv`."""
    return [Node("sign", "sign", ("before",)), binary("conv", "sign", outputs, s.channels, s.rng)]


def sums_after(s: Setting, nodes: list[Node], outputs: int) -> Graph:
    """Nodes whose last yields sums, with a BatchNorm behind it."""
    norm = batchnorm("after", (nodes[-1].name,), outputs, 9 * s.channels, s.rng)
    return small_graph([*nodes, norm], s.shape, AFTER)


def polynomial_sign(s: Setting) -> tuple[Graph, str, Oracle]:
    return signs_then(s, Node("mine", "sign", ("before",))), "mine", s.oracle(sign)


def clipped_sign(s: Setting) -> tuple[Graph, str, Oracle]:
    node = Node("mine", "sign", ("before",), {"derivative": "clipped", "clip": "1.25"})
    return signs_then(s, node), "mine", s.oracle(partial(sign, clip=1.25))


def rsign(s: Setting) -> tuple[Graph, str, Oracle]:
    node = Node("mine", "rsign", ("before",), {}, {"threshold": s.fixed(-0.5, 0.5, s.channels)})
    return signs_then(s, node), "mine", s.oracle(lambda x, threshold: sign(x - threshold), learned(node, "threshold"))


def rprelu(s: Setting) -> tuple[Graph, str, Oracle]:
    arrays = {"shift": s.fixed(-0.5, 0.5, s.channels), "slope": s.fixed(-0.3, 1.5, s.channels),
              "offset": s.fixed(-0.5, 0.5, s.channels)}  # fmt: skip

    def formula(x: Tensor, shift: Tensor, slope: Tensor, offset: Tensor) -> Tensor:
        z = x - shift
        return torch.where(z > 0, z, slope * z) + offset

    return with_range(s, Node("mine", "rprelu", ("before",), {}, dict(arrays)), formula, *arrays, slack=Fraction(3, 4))


def prelu(s: Setting) -> tuple[Graph, str, Oracle]:
    node = Node("mine", "prelu", ("before",), {}, {"slope": s.fixed(-0.3, 1.5, s.channels)})
    formula = lambda x, slope: torch.where(x > 0, x, slope * x)  # noqa: E731
    return with_range(s, node, formula, "slope", slack=Fraction(3, 4))


def relu(s: Setting) -> tuple[Graph, str, Oracle]:
    return with_range(s, Node("mine", "relu", ("before",)), torch.relu, ends=(Fraction(0), Fraction(2)))


def relu_of_sums(s: Setting) -> tuple[Graph, str, Oracle]:
    graph = sums_after(s, [*sums_before(s), Node("mine", "relu", ("conv",))], 6)
    return graph, "mine", s.oracle(torch.relu)


def clip(s: Setting) -> tuple[Graph, str, Oracle]:
    node = Node("mine", "clip", ("before",), {"low": "-0.7", "high": "1.3"})
    formula = partial(torch.nn.functional.hardtanh, min_val=-0.7, max_val=1.3)
    # The ends themselves are rounded to the output's units.
    return with_range(s, node, formula, slack=Fraction(1))


def clip_nothing(s: Setting) -> tuple[Graph, str, Oracle]:
    """To what its input stores already: no operation, and at the ends no gradient."""
    ends = (Fraction(0), Fraction(255, 64))
    graph = small_graph(
        [Node("mine", "clip", ("before",), {"low": "0", "high": "3.984375"})], s.shape, {"mine": ends}, ends
    )
    return graph, "mine", s.oracle(partial(torch.nn.functional.hardtanh, min_val=0, max_val=255 / 64))


def add(s: Setting) -> tuple[Graph, str, Oracle]:
    other = batchnorm("other", ("level",), s.channels, 20, s.rng)
    graph = small_graph([other, Node("mine", "add", ("before", "other"))], s.shape,
                        {"other": (Fraction(-5), Fraction(9)), "mine": (Fraction(-7), Fraction(7))})  # fmt: skip
    return graph, "mine", s.oracle(torch.add)


def concat(s: Setting) -> tuple[Graph, str, Oracle]:
    other = batchnorm("other", ("level",), s.channels, 20, s.rng)
    graph = small_graph([other, Node("mine", "concat", ("before", "other"))], s.shape,
                        {"other": (Fraction(-5), Fraction(9)), "mine": (Fraction(-7), Fraction(7))})  # fmt: skip
    return graph, "mine", s.oracle(lambda a, b: torch.cat([a, b], dim=3))


def max_pool(s: Setting, window: int = 2, stride: int = 2, pad: int = 0) -> tuple[Graph, str, Oracle]:
    window = min(window, *s.shape[:2])
    node = Node("mine", "max_pool", ("before",), {"window": window, "stride": stride, "pad": min(pad, window // 2)})
    formula = partial(torch.nn.functional.max_pool2d, kernel_size=window, stride=stride, padding=min(pad, window // 2))
    return with_range(s, node, lambda x: last(formula(first(x))), ends=(Fraction(-2), Fraction(2)))


def max_pool_of_sums(s: Setting) -> tuple[Graph, str, Oracle]:
    window = min(2, *s.shape[:2])
    graph = sums_after(s, [*sums_before(s), Node("mine", "max_pool", ("conv",), {"window": window})], 6)
    return graph, "mine", s.oracle(lambda x: last(torch.nn.functional.max_pool2d(first(x), window)))


def average_pool(s: Setting, window: int = 0, stride: int = 0, pad: int = 0) -> tuple[Graph, str, Oracle]:
    window, pad = min(window, *s.shape[:2]), pad * (min(s.shape[:2]) > 1)
    attributes: dict[str, int | str] = {"window": window}
    size = (window, window) if window else s.shape[:2]
    pool = partial(torch.nn.functional.avg_pool2d, kernel_size=size, stride=stride or size, padding=pad)
    node = Node("mine", "average_pool", ("before",), attributes | ({"stride": stride, "pad": pad} if stride else {}))
    return with_range(s, node, lambda x: last(pool(first(x))))


def blur_pool(s: Setting) -> tuple[Graph, str, Oracle]:
    row = torch.tensor([1.0, 2.0, 1.0], dtype=torch.float64)
    kernel = (torch.outer(row, row) / 16).expand(s.channels, 3, 3)[..., None]
    formula = partial(conv, w=kernel, stride=2, pad=1, after=1, groups=s.channels)
    return with_range(s, Node("mine", "blur_pool", ("before",)), formula)


def integer_conv(s: Setting, kernel: int = 1, learns: int = 0, **geometry: int) -> tuple[Graph, str, Oracle]:
    outputs = 6
    weights = Fixed.of(s.rng.normal(0, 0.3, (outputs, kernel, kernel, s.channels)), 16)
    node = Node("mine", "integer_conv", ("before",), {"learns": learns, **geometry}, {"weights": weights})
    return convolution(s, node, outputs, 1)


def depthwise_conv(s: Setting, learns: int = 0, **geometry: int) -> tuple[Graph, str, Oracle]:
    weights = Fixed.of(s.rng.normal(0, 0.3, (s.channels, 3, 3)), 16)
    node = Node("mine", "depthwise_conv", ("before",), {"learns": learns, **geometry}, {"weights": weights})
    return convolution(s, node, s.channels, s.channels)


def convolution(s: Setting, node: Node, outputs: int, groups: int) -> tuple[Graph, str, Oracle]:
    w = numbers(node, "weights")
    learns = node.attributes["learns"]
    w = (rounded_masters if learns else rounded_rows)(w, s.bits.forward)
    stride, pad = int(node.attributes.get("stride", 1)), int(node.attributes.get("pad", 0))
    after = int(node.attributes.get("pad_after", pad))

    frozen = torch.from_numpy(w)

    def formula(x: Tensor, w: Tensor = frozen) -> Tensor:
        return conv(x, w if w.dim() == 4 else w[..., None], stride, pad, after, groups=groups)

    return sums_after(s, [node], outputs), "mine", s.oracle(formula, {"w": w} if learns else None)


def batchnorm_row(s: Setting, of: str = "sums", learns: int = 1) -> tuple[Graph, str, Oracle]:
    """Behind sums with a shortcut, or behind activations."""
    nodes = sums_before(s, s.channels) if of == "sums" else []
    sources = ("conv", "before") if of == "sums" else ("before",)
    node = batchnorm("mine", sources, s.channels, 9 * s.channels if of == "sums" else 30, s.rng)
    node = Node(node.name, node.kind, node.inputs, {"learns": learns}, node.arrays)
    mean, inverse = (torch.from_numpy(numbers(node, name)) for name in ("mean", "inverse_sigma"))
    fixed = {name: torch.from_numpy(numbers(node, name)) for name in ("gamma", "beta")}

    def formula(x: Tensor, shortcut: Tensor | float = 0.0, gamma: Tensor = fixed["gamma"],
                beta: Tensor = fixed["beta"]) -> Tensor:  # fmt: skip
        y = gamma * (x - mean) * inverse + beta
        return y + shortcut

    graph = small_graph([*nodes, node], s.shape, {"mine": (Fraction(-5), Fraction(5))})
    # The kept mean has 12 bits behind the point of a sum, which shows in 24-bit outputs.
    slack = {8: Fraction(3, 4), 16: Fraction(1), 32: Fraction(64 if of == "sums" else 1)}[s.bits.forward]
    oracle = s.oracle(formula, learned(node, "gamma", "beta") if learns else None, slack)
    # The gradient that reaches `before` also comes through the sign: not this layer's alone.
    return graph, "mine", oracle if of != "sums" else without_input(oracle, 1)


def without_input(oracle: Oracle, number: int) -> Oracle:
    def backward(inputs, g):
        for_inputs, for_parameters = oracle.backward(inputs, g)
        return [None if at == number else x for at, x in enumerate(for_inputs)], for_parameters

    return Oracle(oracle.forward, backward, oracle.slack)


def binary_conv(s: Setting, kernel: int = 3, stride: int = 1, padding: str = "zero") -> tuple[Graph, str, Oracle]:
    node = binary("mine", "sign", 6, s.channels, s.rng, kernel=kernel, stride=stride, padding=padding)
    w, scale = binary_weights(node, s.channels), torch.from_numpy(numbers(node, "scale"))
    outside, frozen = 1.0 if padding == "one" else 0.0, torch.from_numpy(w)

    def formula(x: Tensor, latent: Tensor = frozen) -> Tensor:
        straight = frozen + (latent - latent.detach())
        return conv(x, straight, stride, kernel // 2, kernel // 2, outside) * scale

    graph = sums_after(s, [Node("sign", "sign", ("before",)), node], 6)
    return graph, "mine", s.oracle(formula, {"latent": w} if s.bits.backward_binary == 32 else None)


def dense(s: Setting, of: str = "pool") -> tuple[Graph, str, Oracle]:
    """Behind the pool, behind a whole map, or behind signs."""
    nodes = [] if of != "signs" else [Node("last", "sign", ("before",), {"derivative": "clipped"})]
    graph = small_graph([], s.shape, {})
    if of != "pool":
        head = Node("head", "dense", ("last" if of == "signs" else "before",))
        graph = Graph(graph.input_shape, [*graph.nodes[:2], *nodes, head], graph.ranges, graph.shapes)
    features = s.channels if of == "pool" else math.prod(s.shape)
    weights = random_head((CLASSES, features + 1)) * 2.0**-28
    weights[:, :-1] = rounded_masters(weights[None, :, :-1], s.bits.forward)[0]

    def formula(x: Tensor, weights: Tensor) -> Tensor:
        return x.flatten(1) @ weights[:, :-1].T + weights[:, -1]

    return graph, "head", s.oracle(formula, {"weights": weights}, Fraction(3, 2))


def cross_entropy(s: Setting) -> tuple[Graph, str, Oracle]:
    def backward(inputs, labels):
        logits = torch.tensor(inputs[0], requires_grad=True)
        torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels).long(), reduction="sum").backward()
        s.seen.append("0")
        return [None if logits.grad is None else logits.grad.numpy()], {}

    return small_graph([], s.shape, {}), "loss", Oracle(lambda inputs: inputs[0], backward)


def decode_latents(s: Setting) -> tuple[Graph, str, None]:
    return small_graph([], s.shape, {}), "level", None


ROWS: dict[str, dict[str, Row]] = {
    "integer_conv": {
        "1x1": integer_conv,
        "3x3 of stride 2 padded behind": partial(integer_conv, kernel=3, stride=2, pad=0, pad_after=2),
        "1x1 that learns": partial(integer_conv, learns=1),
        "3x3 that learns": partial(integer_conv, kernel=3, pad=1, learns=1),
    },
    "depthwise_conv": {
        "3x3": partial(depthwise_conv, pad=1),
        "stride 2, padded behind": partial(depthwise_conv, stride=2, pad_after=2),
        "that learns": partial(depthwise_conv, pad=1, learns=1),
    },
    "batchnorm": {
        "of sums and a shortcut": batchnorm_row,
        "of activations": partial(batchnorm_row, of="activations"),
        "frozen": partial(batchnorm_row, of="activations", learns=0),
    },
    "sign": {"polynomial": polynomial_sign, "clipped": clipped_sign},
    "rsign": {"": rsign},
    "binary_conv": {
        "3x3": binary_conv,
        "3x3 of stride 2, padding one": partial(binary_conv, stride=2, padding="one"),
        "1x1": partial(binary_conv, kernel=1),
    },
    "rprelu": {"": rprelu},
    "prelu": {"": prelu},
    "relu": {"of activations": relu, "of sums": relu_of_sums},
    "clip": {"": clip, "of nothing": clip_nothing},
    "add": {"": add},
    "concat": {"": concat},
    "max_pool": {
        "2x2": max_pool,
        "2x2 of stride 1": partial(max_pool, stride=1),
        "3x3 of stride 2, padded": partial(max_pool, window=3, stride=2, pad=1),
        "of sums": max_pool_of_sums,
    },
    "average_pool": {
        "global": average_pool,
        "2x2": partial(average_pool, window=2),
        "3x3 of stride 1, padded": partial(average_pool, window=3, stride=1, pad=1),
    },
    "blur_pool": {"": blur_pool},
    "dense": {"of a pool": dense, "of a map": partial(dense, of="map"), "of signs": partial(dense, of="signs")},
    "cross_entropy": {"": cross_entropy},
    "decode_latents": {"": decode_latents},
}
