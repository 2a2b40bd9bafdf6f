"""Binary activations and weights: exact values forward, pseudo-gradients backward.

Everywhere sign(0) = +1. A binary convolution takes signs (+-1) and holds real latent weights; what it computes with is
their sign, times one factor a channel that the following BatchNorm can absorb.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def hard_sign(x: Tensor) -> Tensor:
    """+1 where x >= 0, else -1, in x's dtype. No gradient."""
    one = torch.ones((), dtype=x.dtype, device=x.device)
    return torch.where(x >= 0, one, -one)


class _ClippedSign(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, clip: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.clip = clip
        return hard_sign(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= ctx.clip), None


class _PolynomialSign(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return hard_sign(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad * (2 - 2 * x.abs()).clamp_min(0)


class _BinaryWeight(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, w: Tensor, scaled: bool, magnitude_aware: bool, clip: float) -> Tensor:
        mean = w.abs().mean(dim=tuple(range(1, w.dim())), keepdim=True)
        ctx.save_for_backward(w, mean)
        ctx.magnitude_aware, ctx.clip = magnitude_aware, clip
        return hard_sign(w) * mean if scaled else hard_sign(w)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        w, mean = ctx.saved_tensors
        grad = grad * (w.abs() <= ctx.clip)
        return (grad * mean if ctx.magnitude_aware else grad), None, None, None


class ClippedSign(nn.Module):
    """Sign of an activation, straight-through inside a window.

    q(x) = +1 if x >= 0 else -1,    dq/dx ~ 1 if |x| <= clip else 0
    """

    def __init__(self, clip: float = 1.0) -> None:
        super().__init__()
        self.clip = clip

    def forward(self, x: Tensor) -> Tensor:
        return _ClippedSign.apply(x, self.clip)

    def extra_repr(self) -> str:
        return f"clip={self.clip}"


class PolynomialSign(nn.Module):
    """Sign of an activation with the derivative of Bi-Real Net (Liu et al., 2018, section 3.3).

    q(x) = +1 if x >= 0 else -1,    dq/dx ~ 2 - 2|x| if |x| <= 1 else 0
    """

    def forward(self, x: Tensor) -> Tensor:
        return _PolynomialSign.apply(x)


class RSign(nn.Module):
    """Sign about a learned threshold a channel (ReActNet, Liu et al., 2020).

    q(x) = +1 if x >= t_c else -1,    dq/dx ~ 2 - 2|x - t_c| if |x - t_c| <= 1 else 0,    dq/dt_c = -dq/dx
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.threshold = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        return _PolynomialSign.apply(x - self.threshold.to(x.dtype).view(1, -1, 1, 1))


class RPReLU(nn.Module):
    """PReLU between two learned shifts (ReActNet).

    f(x) = p(x - s_c) + o_c,    p(z) = z if z > 0 else b_c z
    df/dx = 1 if x > s_c else b_c,    df/ds_c = -df/dx,    df/do_c = 1,    df/db_c = min(x - s_c, 0)
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(channels))
        self.slope = nn.Parameter(torch.full((channels,), 0.25))
        self.offset = nn.Parameter(torch.zeros(channels))

    def start_as_identity(self) -> None:
        nn.init.ones_(self.slope)

    def forward(self, x: Tensor) -> Tensor:
        shift, offset = (p.to(x.dtype).view(1, -1, 1, 1) for p in (self.shift, self.offset))
        return F.prelu(x - shift, self.slope.to(x.dtype)) + offset


class BinaryConv2d(nn.Module):
    """Convolution of signs with binarised weights.

    w^ = s_c sign(w),    s_c = mean|w| over the output channel c (1 when not `scaled`)
    dw^/dw ~ 1{|w| <= clip},    or mean|w| 1{|w| <= clip} when `magnitude_aware` (Bi-Real Net, section 3.3)

    `pad_with` is what taps outside the map read: "zero" (they count nothing) or "one" (they read +1, so that everything
    is a sign). With `binary_weights` False the latent weights themselves are used: the first stage of pre-training.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int = 3,
        stride: int = 1,
        *,
        pad_with: str = "zero",
        scaled: bool = True,
        magnitude_aware: bool = False,
        clip: float = 1.0,
    ) -> None:
        super().__init__()
        if pad_with not in ("zero", "one"):
            raise ValueError(f"pad_with is {pad_with!r}; expected 'zero' or 'one'.")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding = kernel_size, stride, kernel_size // 2
        self.pad_with, self.scaled, self.magnitude_aware, self.clip = pad_with, scaled, magnitude_aware, clip
        self.binary_weights = True
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels, kernel_size, kernel_size))
        nn.init.kaiming_normal_(self.weight, mode="fan_in", nonlinearity="linear")

    def scale(self) -> Tensor:
        """The factor of each output channel."""
        if not self.scaled:
            return torch.ones(self.out_channels, device=self.weight.device)
        return self.weight.detach().abs().mean(dim=(1, 2, 3))

    def signs(self) -> Tensor:
        """The binary weights, +-1."""
        return hard_sign(self.weight.detach())

    def forward(self, x: Tensor) -> Tensor:
        weight = self.weight
        if self.binary_weights:
            weight = _BinaryWeight.apply(weight, self.scaled, self.magnitude_aware, self.clip)
        if self.pad_with == "one":
            p = self.padding
            return F.conv2d(F.pad(x, (p, p, p, p), value=1.0), weight, stride=self.stride)
        return F.conv2d(x, weight, stride=self.stride, padding=self.padding)

    def extra_repr(self) -> str:
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"pad_with={self.pad_with}, scaled={self.scaled}, clip={self.clip}"
        )


def set_binary_weights(model: nn.Module, binary: bool) -> None:
    """Choose the stage: every binary convolution of the model uses signs of its weights, or the weights themselves."""
    for module in model.modules():
        if isinstance(module, BinaryConv2d):
            module.binary_weights = binary


def clip_latent_weights(model: nn.Module) -> None:
    """Bring latent weights back into the window of their pseudo-gradient. Outside it they would never move again."""
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, BinaryConv2d):
                module.weight.clamp_(-module.clip, module.clip)
