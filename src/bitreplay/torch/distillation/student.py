"""A network that learns the outputs of a teacher: weights, optimiser, running average, the engine's rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bitreplay.torch.distillation.distillation_recipe import DistillationRecipe
from bitreplay.torch.models.binarize import BinaryConv2d, clip_latent_weights, set_binary_weights
from bitreplay.torch.pretraining.average import RunningAverage
from bitreplay.torch.pretraining.checkpoint import load_model_state, load_optimizer_state, save_checkpoint
from bitreplay.torch.pretraining.engine_rounding import EngineRounding
from bitreplay.torch.pretraining.feature_match import add_projection, head_of
from bitreplay.torch.resizing import resize, resize_view

CALIBRATION_IMAGES = 500


class Student:
    """`name` and `options` are those of the model, `out` is the file for its weights, `before` says how its first
    weights were made. `rate` is its highest learning rate, where that is not the recipe's. With `keeps_statistics`
    BatchNorm keeps the means and variances of its first weights, and learns scale and offset alone.

    The engine's rounding is in the loop of binary networks alone: a rounded value flips signs there. A network without
    signs loses nothing by it."""

    def __init__(
        self,
        name: str,
        model: nn.Module,
        out: Path,
        options: Mapping[str, Any] | None = None,
        before: Mapping[str, Any] | None = None,
    ) -> None:
        self.name, self.out, self.options, self.before = name, out, dict(options or {}), before
        self.model, self.size = model, int(model.input_size)  # type: ignore[arg-type]
        self.rounding: EngineRounding | None = None
        self.rate: float | None = None
        self.keeps_statistics = False
        self.binary = any(isinstance(module, BinaryConv2d) for module in model.modules())

    def begin(self, recipe: DistillationRecipe, features: int, device: torch.device, compiled: bool) -> None:
        add_projection(self.model, features)
        self.model.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        set_binary_weights(self.model, True)
        self.classes, self.gpu = head_of(self.model).out_features, device.type == "cuda"
        self.match, self.device = recipe.match, device
        self.rate_factor = 1.0 if self.rate is None else self.rate / recipe.rate
        latent = [m.weight for m in self.model.modules() if isinstance(m, BinaryConv2d)]
        rest = [p for p in self.model.parameters() if all(p is not weight for weight in latent)]
        groups = [
            {"params": latent, "weight_decay": 0.0},
            {"params": [p for p in rest if p.dim() > 1], "weight_decay": recipe.weight_decay},
            {"params": [p for p in rest if p.dim() <= 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=recipe.rate, fused=self.gpu)
        self.average = RunningAverage(self.model, recipe.average) if recipe.average else None
        self.train()
        self.losses: Callable[..., Tensor] = torch.compile(self.loss_of, dynamic=False) if compiled else self.loss_of

    def train(self) -> None:
        """As for learning: BatchNorm by the minibatch, unless it keeps its statistics."""
        self.model.train()
        if self.keeps_statistics:
            for module in self.model.modules():
                if isinstance(module, nn.BatchNorm2d):
                    module.eval()

    def fitted(self, view: Tensor) -> Tensor:
        """Views at the size of the network, in channels-last layout."""
        return resize_view(view, self.size).contiguous(memory_format=torch.channels_last)

    def loss_of(self, small: Tensor, logits: Tensor, features: Tensor) -> Tensor:
        """(2,): the divergence from the teacher's probabilities, and 1 - cos of the features, means over the views."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.gpu):
            outputs, projected = self.model(small).tensor_split([self.classes], 1)
        divergence = F.kl_div(
            outputs.float().log_softmax(1), logits.float().log_softmax(1), reduction="batchmean", log_target=True
        )
        apart = 1 - F.cosine_similarity(projected.float(), features.float(), dim=1).mean()
        return torch.stack([divergence, apart])

    def learn(self, view: Tensor, logits: Tensor, features: Tensor, rate: float) -> Tensor:
        """Take one step; returns the two losses."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate * self.rate_factor
        self.optimizer.zero_grad(set_to_none=True)
        losses = self.losses(self.fitted(view), logits, features)
        (losses[0] + self.match * losses[1]).backward()
        self.optimizer.step()
        clip_latent_weights(self.model)
        if self.average is not None:
            self.average.update(self.model)
        return losses.detach()

    def round_from_here(self, images: Tensor) -> None:
        """Switch the engine's rounding on, with ranges of the current weights; called again, it renews the ranges."""
        if not self.binary:
            return
        if self.rounding is None:
            few = resize(images[:: max(1, len(images) // CALIBRATION_IMAGES)], self.size)
            self.rounding = EngineRounding(self.model, few)
        self.rounding.calibrate()

    def leave_rounding(self) -> None:
        """Switch the rounding off. Its hooks are reused later, so that nothing is compiled again."""
        if self.rounding is not None:
            self.rounding.remove()

    @property
    def rounds(self) -> bool:
        return self.rounding is not None and bool(self.rounding.handles)

    def save(self, note: dict[str, Any]) -> None:
        """A checkpoint beside `out`."""
        average = {} if self.average is None else self.average.state()
        save_checkpoint(self.checkpoint, self.model, self.optimizer, note, average)

    @property
    def checkpoint(self) -> Path:
        return self.out.with_name(self.out.name + ".checkpoint")

    def load(self, tensors: dict[str, Tensor]) -> None:
        load_model_state(self.model, tensors)
        load_optimizer_state(self.optimizer, self.model, tensors)
        if self.average is not None:
            self.average.load({k.removeprefix("average/"): x for k, x in tensors.items() if k.startswith("average/")})
