"""A running average of a model's weights. The noise of the last steps cancels out in it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn


class RunningAverage:
    """An average over about the last `horizon` steps; over all of them while they are fewer. BatchNorm's statistics are
    not averaged: they belong to the weights and are estimated again for those in use."""

    def __init__(self, model: nn.Module, horizon: int) -> None:
        self.horizon, self.steps = max(1, horizon), 0
        self.weights = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self, model: nn.Module) -> None:
        """After a step."""
        self.steps += 1
        now = [p.detach() for p in model.parameters()]
        torch._foreach_lerp_(list(self.weights.values()), now, 1 / min(self.steps, self.horizon))

    def exchange(self, model: nn.Module) -> None:
        """Put the average into the model, and the model's weights here; a second call undoes the first."""
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                current = parameter.detach().clone()
                parameter.copy_(self.weights[name])
                self.weights[name].copy_(current)

    def state(self) -> dict[str, Tensor]:
        return {"steps": torch.tensor(self.steps), **{f"weights/{name}": w for name, w in self.weights.items()}}

    def load(self, state: Mapping[str, Tensor]) -> None:
        self.steps = int(state["steps"])
        for name, weight in self.weights.items():
            weight.copy_(state[f"weights/{name}"])
