"""Real-valued weights in 8 bits: a file of half the size, and the integers that the engine computes with at q_f = 8.

    w[o] = s_o v[o] / 128,    v integers in [-127, 127],    s_o = 128 max|w[o]| / 127

The BatchNorm behind a convolution takes the factor of each output in: the sums x become x / s, so that
mean <- mean / s and 1 / sigma <- s / sigma. A convolution that anything else reads stays as it is. Where nothing
learns, before the first replay layer, 16 bits do for the four numbers of a channel. A channel whose weights are next to
nothing beside the others' has a larger s, for which 1 / sigma fits these bits.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.graph import Fixed, Node
from bitreplay.torch.convert.layer_table import fixed

BITS, LIMIT, SHIFT = 8, 127, 7
FROZEN_BITS = 16


def narrow_weights(nodes: list[Node], replay_layers: Collection[str]) -> list[Node]:
    """The same network, with weights of 8 bits where one BatchNorm reads the sums."""
    frozen = set[str]()
    for node in nodes:
        frozen.add(node.name)
        if node.name in replay_layers:
            break
    changed = {node.name: node for node in nodes}
    for node in nodes:
        readers = [reader for reader in nodes if node.name in reader.inputs]
        if node.kind not in ("integer_conv", "depthwise_conv") or [reader.kind for reader in readers] != ["batchnorm"]:
            continue
        norm = changed[readers[0].name]
        if norm.inputs[0] != node.name:
            continue
        weights = _real(node, "weights")
        largest = np.abs(weights).max(axis=tuple(range(1, weights.ndim)))
        largest = np.where(largest > 0, largest, 1.0)
        slope = largest * _real(norm, "inverse_sigma")
        least = slope.max() / 2 ** (FROZEN_BITS - 1)  # below half of it 1 / sigma would be stored as 0
        factor = largest * np.maximum(1, least / slope) / LIMIT
        values = np.rint(weights / factor.reshape(-1, *(1,) * (weights.ndim - 1))).astype(np.int32)
        attributes = node.attributes | {"weight_bits": BITS}
        changed[node.name] = replace(node, attributes=attributes, arrays={"weights": Fixed(values, SHIFT)})
        per_output = factor * 2**SHIFT
        real = {role: _real(norm, role) for role in norm.arrays}
        real |= {"mean": real["mean"] / per_output, "inverse_sigma": real["inverse_sigma"] * per_output}
        arrays: dict[str, Fixed | NDArray]
        if norm.name in frozen:
            arrays = {role: fixed(x, FROZEN_BITS) for role, x in real.items()}
        else:
            arrays = {role: fixed(real[role]) for role in ("mean", "inverse_sigma")}
        changed[norm.name] = replace(norm, arrays=norm.arrays | arrays)
    return [changed[node.name] for node in nodes]


def _real(node: Node, role: str) -> NDArray[np.float64]:
    array = node.arrays[role]
    assert isinstance(array, Fixed)
    return array.values / 2.0**array.shift
