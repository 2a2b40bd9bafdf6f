"""What calibration images make of a traced module: ranges, values at the replay layers, BatchNorm statistics.

Images pass in minibatches, in evaluation mode. A replay layer is a cut: what comes after it reads nothing before it, so
that the tail can be run alone on coded values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, fx, nn

from bitreplay.torch.arrays import scale_pixels

MINIBATCH = 50
SAMPLED = 1 << 15
ASLEEP, AWAKE = 1 / 16, 1 / 4


@dataclass
class Spread:
    """The values of a tensor: its extremes, an even sample of SAMPLED values per call, max|x| of each channel."""

    low: float = float("inf")
    high: float = float("-inf")
    sampled: list[Tensor] = field(default_factory=list)
    channels: Tensor | None = None

    def see(self, x: Tensor) -> None:
        largest = x.detach().abs().flatten(2).amax(dim=(0, 2)) if x.dim() == 4 else x.detach().abs().amax(dim=0)
        self.channels = largest if self.channels is None else torch.maximum(self.channels, largest)
        flat = x.detach().reshape(-1)
        self.low, self.high = min(self.low, float(flat.min())), max(self.high, float(flat.max()))
        # An odd stride meets every channel and pixel. A copy: a slice would keep the whole tensor.
        self.sampled.append(flat[:: flat.numel() // SAMPLED | 1].clone().cpu())

    def range(self, outside: float, headroom: float) -> tuple[Fraction, Fraction]:
        """The interval that leaves out a share `outside` at either end, widened by `headroom`, containing 0."""
        low, high = self.low, self.high
        if outside > 0:
            values = np.sort(torch.cat(self.sampled).numpy())
            at = round(outside * (len(values) - 1))
            low, high = float(values[at]), float(values[-1 - at])
        low, high = min(low, 0.0) * headroom, max(high, 0.0) * headroom
        return (short(low), short(high)) if low < high else (Fraction(0), Fraction(1))


def short(x: float) -> Fraction:
    """The nearest number with 24 significant bits.

    >>> short(0.1)
    Fraction(13421773, 134217728)
    """
    return Fraction(float(np.float32(x)))


class Watcher(fx.Interpreter):
    """Runs the traced module, shows chosen values to `see`, and may start behind a node from a given value."""

    def __init__(self, traced: fx.GraphModule, watched: Collection[fx.Node], see: Any) -> None:
        super().__init__(traced)
        self.watched, self.see = watched, see

    def run_node(self, n: fx.Node) -> Any:
        result = super().run_node(n)
        if n in self.watched:
            self.see(n, result)
        return result

    def run_behind(self, start: fx.Node, value: Tensor) -> Tensor:
        """Run only what lies behind `start`, with `value` as its output."""
        self.env = {start: value}
        assert isinstance(self.module, fx.GraphModule)
        nodes = list(self.module.graph.nodes)
        for node in nodes[nodes.index(start) + 1 :]:
            self.env[node] = self.run_node(node)
            for spent in self.user_to_last_uses.get(node, []):
                self.env.pop(spent, None)
            if node.op == "output":
                return self.env[node]
        raise AssertionError("a traced module ends in its output")


def minibatches(images: NDArray[np.uint8]) -> Iterator[Tensor]:
    """uint8 (N, H, W, C) -> float (n, C, H, W) in [-1, 1]."""
    for start in range(0, len(images), MINIBATCH):
        yield scale_pixels(torch.from_numpy(images[start : start + MINIBATCH].copy()).permute(0, 3, 1, 2))


def shapes_of(traced: fx.GraphModule, images: NDArray[np.uint8]) -> dict[fx.Node, tuple[int, ...]]:
    """The shape of every value for one image."""
    shapes: dict[fx.Node, tuple[int, ...]] = {}

    def see(node: fx.Node, x: Any) -> None:
        if isinstance(x, Tensor):
            shapes[node] = tuple(x.shape)

    with torch.no_grad():
        Watcher(traced, list(traced.graph.nodes), see).run(next(minibatches(images[:1])))
    return shapes


def watch(
    traced: fx.GraphModule, images: NDArray[np.uint8], watched: Collection[fx.Node], replay_layers: Collection[fx.Node]
) -> tuple[dict[fx.Node, Spread], dict[fx.Node, Tensor]]:
    """The spread of the watched values, and all values at the replay layers."""
    spreads = {node: Spread() for node in watched}
    values: dict[fx.Node, list[Tensor]] = {node: [] for node in replay_layers}

    def see(node: fx.Node, x: Tensor) -> None:
        if node in spreads:
            spreads[node].see(x)
        if node in values:
            values[node].append(x)

    with torch.no_grad():
        for part in minibatches(images):
            Watcher(traced, {*watched, *replay_layers}, see).run(part)
    return spreads, {node: torch.cat(parts) for node, parts in values.items()}


def behind(traced: fx.GraphModule, *replay_layers: fx.Node) -> set[fx.Node]:
    """All that comes after the first of these values."""
    nodes = list(traced.graph.nodes)
    return set(nodes[min((nodes.index(replay_layer) for replay_layer in replay_layers), default=len(nodes)) + 1 :])


def watch_tail(traced: fx.GraphModule, replay_layer: fx.Node, values: Tensor, spreads: dict[fx.Node, Spread]) -> None:
    """Add to the spreads what the tail makes of (coded) values at a replay layer."""

    def see(node: fx.Node, x: Tensor) -> None:
        spreads[node].see(x)

    with torch.no_grad():
        for part in values.split(MINIBATCH):
            Watcher(traced, spreads.keys(), see).run_behind(replay_layer, part)


def wake_channels(norm: nn.BatchNorm2d, spread: Spread) -> None:
    """Enlarge gamma and beta of channels that hardly leave 0, for a BatchNorm that only signs read.

    Weight decay can shrink both until no 8-bit step tells their signs apart (321 of 512 channels before VGG-Small's
    head). A sign does not see the factor, which brings such a channel's largest value to AWAKE.
    """
    assert spread.channels is not None
    asleep = (spread.channels > 0) & (spread.channels < ASLEEP)
    factor = torch.where(asleep, AWAKE / spread.channels.double(), 1.0)
    with torch.no_grad():
        norm.weight.copy_(norm.weight.double() * factor)
        norm.bias.copy_(norm.bias.double() * factor)
    if asleep.any():
        spread.see(torch.tensor([[-AWAKE], [AWAKE]]).expand(2, len(factor)))


def reestimate_tail(traced: fx.GraphModule, replay_layer: fx.Node, values: Tensor) -> None:
    """Replace the running statistics of every BatchNorm behind the replay layer by those of `values`.

    All values pass at once, so that each BatchNorm is estimated behind those already re-estimated.
    """
    paths = [str(node.target) for node in behind(traced, replay_layer) if node.op == "call_module"]
    norms = [m for path in paths if isinstance(m := traced.get_submodule(path), nn.BatchNorm2d)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    with torch.no_grad():
        Watcher(traced, (), None).run_behind(replay_layer, values)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
        norm.eval()
