"""Layers in float64 by autograd: one formula gives values and gradients. Maps are (N, H, W, C), as in the engine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bitreplay.engine.arithmetic.packing import signs
from bitreplay.engine.checks import Oracle
from bitreplay.engine.graph import Fixed, Node


def numbers(node: Node, name: str) -> np.ndarray:
    array = node.arrays[name]
    assert isinstance(array, Fixed)
    return array.values.astype(np.float64) * 2.0**-array.shift


def by_autograd(
    formula: Callable[..., Tensor], learned: dict[str, np.ndarray] | None = None, slack: Fraction | None = None,
    seen: list[str] | None = None,
) -> Oracle:  # fmt: skip
    """formula(*inputs, **learned) -> output. `seen` collects the names of gradients that are not 0."""

    def leaves(inputs: list[np.ndarray]) -> tuple[list[Tensor], dict[str, Tensor]]:
        tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in inputs]
        return tensors, {
            k: torch.tensor(v, dtype=torch.float64, requires_grad=True) for k, v in (learned or {}).items()
        }

    def forward(inputs: list[np.ndarray]) -> np.ndarray:
        tensors, parameters = leaves(inputs)
        return formula(*tensors, **parameters).detach().numpy()

    def backward(inputs: list[np.ndarray], g: np.ndarray) -> tuple[list[np.ndarray | None], dict[str, np.ndarray]]:
        tensors, parameters = leaves(inputs)
        y = formula(*tensors, **parameters)
        y.backward(torch.from_numpy(g.reshape(tuple(y.shape))))
        found = {k: v.grad.numpy() for k, v in parameters.items() if v.grad is not None}
        inputs_found = [None if x.grad is None else x.grad.numpy() for x in tensors]
        named = found | {str(i): x for i, x in enumerate(inputs_found) if x is not None}
        (seen if seen is not None else []).extend(name for name, x in named.items() if x.any())
        return inputs_found, found

    return Oracle(forward, backward) if slack is None else Oracle(forward, backward, slack)


class _Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, clip: float | None) -> Tensor:
        ctx.save_for_backward(x)
        ctx.clip = clip
        return torch.where(x >= 0, 1.0, -1.0).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        derivative = torch.clamp(2 - 2 * x.abs(), min=0) if ctx.clip is None else (x.abs() <= ctx.clip).to(x.dtype)
        return grads[0] * derivative, None


def sign(x: Tensor, clip: float | None = None) -> Tensor:
    """+1 where x >= 0; derivative 2 - 2|x|, or 1 on |x| <= clip."""
    return _Sign.apply(x, clip)


def first(x: Tensor) -> Tensor:
    return x.permute(0, 3, 1, 2)


def last(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1)


def conv(x: Tensor, w: Tensor, stride: int, pad: int, after: int, outside: float = 0.0, groups: int = 1) -> Tensor:
    """w is (outputs, kernel, kernel, channels)."""
    padded = torch.nn.functional.pad(first(x), (pad, after, pad, after), value=outside)
    return last(torch.nn.functional.conv2d(padded, first(w), stride=stride, groups=groups))


def binary_weights(node: Node, channels: int) -> np.ndarray:
    weights = node.arrays["weights"]
    assert isinstance(weights, np.ndarray)
    return signs(weights, channels).astype(np.float64)


def nearest(x: np.ndarray) -> np.ndarray:
    """To integers, ties away from zero."""
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def rounded_rows(w: np.ndarray, bits: int) -> np.ndarray:
    """Weights at `bits` bits, one scale per output."""
    limit = 2.0 ** ({8: 8, 16: 16, 32: 24}[bits] - 1) - 1
    largest = np.abs(w).reshape(len(w), -1).max(axis=1).reshape(-1, *[1] * (w.ndim - 1))
    return nearest(w / largest * limit) * largest / limit


def rounded_masters(w: np.ndarray, bits: int) -> np.ndarray:
    """Weights at `bits` bits, a power of two per output: the least that holds the largest."""
    limit = 2.0 ** ({8: 8, 16: 16, 32: 24}[bits] - 1) - 1
    rows = w.reshape(len(w), -1)
    found = np.zeros_like(rows)
    for number, row in enumerate(rows):
        unit = 2.0 ** np.floor(np.log2(np.abs(row).max() / limit))
        while np.abs(nearest(row / unit)).max() > limit:
            unit *= 2
        found[number] = nearest(row / unit) * unit
    return found.reshape(w.shape)
