"""The float tail with activation gradients rounded to b bits, to show what one scale a tensor costs.

    tensor-b   one scale for the whole minibatch, its largest magnitude: what "q_b bits" usually means
    sample-b   one power of two a sample: what the engine does (docs/law.md)

A simulation in floating point: only the roundings are those of b bits. Parameter gradients are sums and not rounded.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bitreplay.torch.twin.float_learner import FloatStepper
from bitreplay.torch.twin.float_tail import FloatTail

LEAST = 1e-38


def rounded(gradient: Tensor, bits: int, per: str) -> Tensor:
    limit = 2 ** (bits - 1) - 1
    if per == "tensor":
        step = gradient.abs().amax() / limit
    else:
        step = gradient.abs().amax(dim=tuple(range(1, gradient.dim())), keepdim=True) / limit
        step = torch.exp2(torch.ceil(torch.log2(step.clamp_min(LEAST))))
    step = step.clamp_min(LEAST)
    return (gradient / step).round().clamp(-limit, limit) * step


class RoundedTail(FloatTail):
    """As FloatTail; each node's gradient is rounded on its way back."""

    per: str
    bits: int

    def forward(self, latents: NDArray[np.uint64] | Tensor) -> Tensor:
        if not torch.is_grad_enabled():
            return super().forward(latents)
        real = latents if isinstance(latents, Tensor) else self.decode(latents)
        values = {self.replay_layer: real.permute(0, 3, 1, 2)}
        for node, layer in zip(self.nodes, self.layers, strict=True):
            values[node.name] = self._rounding(layer(*(values[name] for name in node.inputs)))
        logits = self._rounding(self.head(values[self.nodes[-1].name]))
        return logits.masked_fill(~self.active, -torch.inf)

    def _rounding(self, value: Tensor) -> Tensor:
        if value.requires_grad:
            value.register_hook(lambda gradient: rounded(gradient, self.bits, self.per))
        return value


def rounded_tail(tail: FloatStepper, gradients: str) -> FloatStepper:
    """`gradients` as "tensor-8"."""
    per, _, bits = gradients.partition("-")
    tail.net.__class__ = RoundedTail
    tail.net.per, tail.net.bits = per, int(bits)  # type: ignore[assignment]
    return tail
