"""The engine's rounding in the loop of pre-training: activations of 8 bits, and the 1-bit code at the replay layer.

    rounding = EngineRounding(model, images)        finds the layers after which the engine rounds; nothing changes yet
    rounding.calibrate()                            ranges and code from the images as the model is now; rounding is on
    rounding.remove()

A network that was trained in real numbers loses some tenths of a point when its activations are rounded: signs flip
where a value is within half a step of its threshold. One that is trained with the rounding tolerates it. The code
replaces the value of the replay layer in every second sample, so that the tail serves both. Gradients pass straight
through, and not at all where a value is outside its range.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from bitreplay.engine.arithmetic.quant import Activation
from bitreplay.torch.arrays import scale_pixels
from bitreplay.torch.convert import OUTSIDE, TAIL_HEADROOM, code_of
from bitreplay.torch.convert.latent_code import as_real
from bitreplay.torch.convert.lowering import Lowering, windows
from bitreplay.torch.convert.ranges import MINIBATCH, Spread, behind, shapes_of
from bitreplay.torch.models.layers import trace

BITS = 8
STEPS = (1 << BITS) - 1


def rounded(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """x at one of 256 even steps from low to high, 0 among them; the gradient is 1 inside, 0 outside."""
    step = (high - low) / STEPS
    inside = x.float().clamp(low, high)
    return (inside + ((inside / step).round() * step - inside).detach()).to(x.dtype)


def coded(x: Tensor, threshold: Tensor, values: Tensor) -> Tensor:
    """Replace every second sample by its 1-bit code; the gradient passes straight through."""
    decoded = torch.where(x >= threshold.to(x.dtype), values[1].to(x.dtype), values[0].to(x.dtype))
    every_second = (torch.arange(len(x), device=x.device) % 2 == 0).view(-1, 1, 1, 1)
    return torch.where(every_second, x + (decoded - x).detach(), x)


def copy_into(old: Tensor, new: Tensor) -> Tensor:
    """Copy `new` into `old` where the shapes agree: compiled code keeps using its memory."""
    return old.copy_(new) if old.shape == new.shape else new


class RoundingHook:
    """A forward hook on one layer whose output the engine rounds.

    `window` limits the range where nothing but signs or a clip reads the value; `headroom` widens it.
    """

    def __init__(
        self, window: tuple[Fraction, Fraction] | None, headroom: float, at_replay_layer: bool, device: torch.device
    ) -> None:
        self.window, self.headroom, self.at_replay_layer = window, headroom, at_replay_layer
        self.observing = False
        self.reset()
        self.low, self.high = (torch.zeros((), device=device) for _ in range(2))
        self.threshold, self.values = torch.zeros(1, device=device), torch.zeros(2, 1, device=device)

    def __call__(self, module: nn.Module, inputs: Any, x: Tensor) -> Tensor:
        if self.observing:
            self.spread.see(x.float())
            if self.at_replay_layer:
                self.samples.append(x.float().cpu())
            return x
        x = rounded(x, self.low, self.high)
        return coded(x, self.threshold, self.values) if self.at_replay_layer and module.training else x

    def reset(self) -> None:
        """Forget the observed values."""
        self.spread = Spread()
        self.samples: list[Tensor] = []

    def set_range(self, outside: float) -> None:
        """Set range and code from the observed values, by the rules of the conversion."""
        low, high = self.spread.range(outside, self.headroom)
        if self.window is not None:
            low, high = max(low, self.window[0]), min(high, self.window[1])
        spec = Activation.of_range(low, high, BITS)
        self.low.fill_(float(spec.scale * (spec.low - spec.zero)))
        self.high.fill_(float(spec.scale * (spec.high - spec.zero)))
        if self.at_replay_layer:
            code = code_of(torch.cat(self.samples), 1)
            cuts, values = (torch.from_numpy(as_real(part)).float() for part in (code.thresholds, code.values))
            self.threshold, self.values = (
                copy_into(old, new.to(old.device))
                for old, new in (
                    (self.threshold, cuts[:, 0].view(1, -1, 1, 1)),
                    (self.values, values.T.reshape(2, 1, -1, 1, 1)),
                )
            )


class EngineRounding:
    """`images`: some hundred uint8 pictures (N, C, S, S) on the model's device, at its size."""

    def __init__(self, model: nn.Module, images: Tensor, outside: float = OUTSIDE) -> None:
        self.model, self.images, self.outside = model, images, outside
        replay_layers: dict[str, str] = dict(getattr(model, "replay_layers", {}))
        traced = trace(copy.deepcopy(model).cpu().float().eval())
        one: NDArray[np.uint8] = images[:1].permute(0, 2, 3, 1).cpu().numpy()
        lowered = Lowering(traced, shapes_of(traced, one), replay_layers).run()
        within = windows(lowered.nodes)
        replay_layer = next(iter(replay_layers), None)
        moving = behind(traced, *(lowered.values[name] for name in replay_layers))
        self.hooks: dict[str, RoundingHook] = {}
        self.handles: list[RemovableHandle] = []
        for name, node in lowered.ranged().items():
            window = None if name in replay_layers else within.get(name)
            headroom = TAIL_HEADROOM if node in moving else 1.0
            self.hooks[str(node.target)] = RoundingHook(window, headroom, name == replay_layer, images.device)

    def calibrate(self) -> None:
        """Set ranges and code from the current model, without rounding; then switch rounding on."""
        if not self.handles:
            modules = dict(self.model.named_modules())
            self.handles = [modules[path].register_forward_hook(hook) for path, hook in self.hooks.items()]
        was_training = self.model.training
        self.model.eval()
        for hook in self.hooks.values():
            hook.observing = True
        with torch.no_grad():
            for part in self.images.split(MINIBATCH):
                self.model(scale_pixels(part).contiguous(memory_format=torch.channels_last))
        for hook in self.hooks.values():
            hook.observing = False
            hook.set_range(self.outside)
            hook.reset()
        self.model.train(was_training)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles = []
