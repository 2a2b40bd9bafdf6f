"""A network as the engine sees it: nodes in order, real numbers as integers with a binary point, calibrated ranges.

Nothing here depends on a bit width: `compile.py` makes the operands of a chosen q_f from these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Fixed:
    """Real numbers values / 2^shift; weights that a model file has in bytes are left in int8."""

    values: NDArray[np.int32] | NDArray[np.int8]
    shift: int

    def fractions(self) -> list[Fraction]:
        """The numbers, flattened, exactly."""
        up, down = 1 << max(-self.shift, 0), 1 << max(self.shift, 0)
        return [Fraction(value * up, down) for value in self.values.reshape(-1).tolist()]

    @property
    def largest_integer(self) -> int:
        """The largest of `values` by its size."""
        return max(int(self.values.max(initial=0)), -int(self.values.min(initial=0)))

    def largest(self) -> Fraction:
        """The largest of them by its size."""
        return self.largest_integer * Fraction(2) ** -self.shift

    @staticmethod
    def of(real: NDArray[np.float64], bits: int = 32) -> Fixed:
        """Round real numbers to the finest binary point that holds the largest in `bits` bits (host only)."""
        real = np.asarray(real, np.float64)
        largest = float(np.abs(real).max(initial=0.0))
        shift = 28 if largest == 0 else bits - 2 - int(np.floor(np.log2(largest)))
        values = np.rint(real * 2.0**shift)
        limit = 2.0 ** (bits - 1) - 1
        return Fixed(np.clip(values, -limit, limit).astype(np.int32), shift)


@dataclass(frozen=True)
class Node:
    """One layer: its kind (a key of layers.LAYERS), the names of the nodes it reads, and what it needs."""

    name: str
    kind: str
    inputs: tuple[str, ...]
    attributes: dict[str, int | str] = field(default_factory=dict)
    arrays: dict[str, Fixed | NDArray] = field(default_factory=dict)


@dataclass(frozen=True)
class LatentCode:
    """Per channel 2^bits - 1 ascending thresholds and 2^bits values, as real numbers."""

    bits: int
    thresholds: Fixed
    values: Fixed


Ranges = dict[str, tuple[Fraction, Fraction]]


@dataclass
class Graph:
    """The whole network.

    `ranges` holds the calibrated (low, high) of every node that yields activations, `shapes` the (height, width,
    channels) of every replay level, `replay_layers` the codes of each level by their bits. `ranges_at` holds the ranges
    calibrated at further input sizes (modelfile/input_sizes.py).
    """

    input_shape: tuple[int, int, int]
    nodes: list[Node]
    ranges: Ranges
    shapes: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    replay_layers: dict[str, dict[int, LatentCode]] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    ranges_at: dict[int, Ranges] = field(default_factory=dict)

    def node(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)

    def position(self, name: str) -> int:
        return [node.name for node in self.nodes].index(name)
