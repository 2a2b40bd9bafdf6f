"""The float tail with binary weights that learn: what latent weights of 4 or 8 bits are compared with.

    latents   real latent weights v, in units of their start: w = sign(v) scale, straight-through, clipped at +-2
    flips     no latents at all, q_b^bin = 1: a weight whose step points to the other sign takes it with the
              probability |step|, as a latent weight of one bit with rounding at random would

The step is that of engine/layers/latent_weights.py: rate 2^gain times the derivative by the exact sums.
"""

from __future__ import annotations

import torch
from controls import DISTANCES
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional as F

from bitreplay.engine.graph import Fixed
from bitreplay.engine.layers.latent_weights import LATENT_GAIN
from bitreplay.torch.twin.float_learner import FloatStepper
from bitreplay.torch.twin.float_tail import FrozenConv

UNITS = 64
WINDOW = 2.0


class Signed(Function):
    """sign(v) scale; the derivative passes, in the units and with the gain of v."""

    @staticmethod
    def forward(context, latent: Tensor, scale: Tensor, gain: float) -> Tensor:
        context.save_for_backward(scale)
        context.gain = gain
        return torch.where(latent >= 0, scale, -scale)

    @staticmethod
    def backward(context, gradient: Tensor) -> tuple[Tensor, None, None]:
        (scale,) = context.saved_tensors
        return gradient * scale * context.gain, None, None


class LearningConv(nn.Module):
    """A frozen binary convolution made to learn; `flips` has no latents between steps."""

    scale: Tensor
    signs: Tensor

    def __init__(self, conv: FrozenConv, away: Tensor, gain: float, flips: bool) -> None:
        super().__init__()
        self.stride, self.around, self.outside, self.outputs = conv.stride, conv.around, conv.outside, conv.outputs
        self.gain, self.flips = gain, flips
        self.register_buffer("scale", conv.weight.abs())
        signs = torch.where(conv.weight >= 0, 1.0, -1.0)
        self.latent = nn.Parameter(signs if flips else signs * away)
        self.register_buffer("signs", signs.clone())

    def settle(self) -> None:
        """What a step has left: clipped latents, or signs again."""
        with torch.no_grad():
            if not self.flips:
                self.latent.clamp_(-WINDOW, WINDOW)
                return
            towards = (1 - self.latent * self.signs).clamp(0, 1)
            self.signs.copy_(torch.where(torch.rand_like(towards) < towards, -self.signs, self.signs))
            self.latent.copy_(self.signs)

    def forward(self, x: Tensor) -> Tensor:
        self.settle()
        weight = Signed.apply(self.latent, self.scale, self.gain)
        return F.conv2d(F.pad(x, self.around, value=self.outside), weight, stride=self.stride)


def learning_tail(tail: FloatStepper, how: str, start: str, powers: int, seed: int) -> FloatStepper:
    """`how` is latents or flips, `start` as in controls.py."""
    torch.manual_seed(seed)
    gain = 2.0 ** (LATENT_GAIN[8] + powers)
    for number, node in enumerate(tail.net.nodes):
        if node.kind == "binary_conv":
            conv = tail.net.layers[number]
            assert isinstance(conv, FrozenConv)
            outputs, inputs, rows, columns = conv.weight.shape
            scale = node.arrays["scale"]
            assert isinstance(scale, Fixed)
            units = DISTANCES[start](node.name, (outputs, rows, columns, inputs), UNITS, 2 * UNITS, scale.values)
            away = torch.from_numpy(units / UNITS).permute(0, 3, 1, 2).to(conv.weight)
            tail.net.layers[number] = LearningConv(conv, away, gain, how == "flips")
    tail.learned = list(tail.net.parameters())
    return tail
