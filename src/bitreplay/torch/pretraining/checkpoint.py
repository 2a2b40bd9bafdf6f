"""The state of a pre-training run between two epochs, so that a killed run goes on where it was.

Everything random is drawn from (seed, epoch), so weights, optimiser state and the schedule's place are all there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bitreplay.torch import tensorfile
from bitreplay.torch.pretraining.recipe import Recipe

# What a resumed run may change: how long it goes on, and how fast.
FREE = ("epochs", "time_limit", "compile")


def checkpoint_of(out: Path) -> Path:
    """Where the checkpoint of a run that writes `out` lies."""
    return out.with_name(out.name + ".checkpoint")


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    note: dict[str, Any],
    average: Mapping[str, Tensor] | None = None,
) -> None:
    tensors: dict[str, Tensor] = {f"model/{key}": value for key, value in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state[parameter].items():
            if isinstance(value, Tensor):
                tensors[f"optimizer/{name}/{key}"] = value
    tensors |= {f"average/{key}": value for key, value in (average or {}).items()}
    tensorfile.save(path, tensors, note)


def load_checkpoint(path: Path, recipe: Recipe, origin: Mapping[str, Any]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and note of a checkpoint; one of another recipe or another `origin` is refused."""
    tensors, note = tensorfile.load(path)
    if "recipe" not in note:
        raise ValueError(f"{path} is no checkpoint: it does not say how it was made.")
    made, asked = note["recipe"] | note.get("origin", {}), recipe.as_dict() | dict(origin)
    different = [key for key in asked if key not in FREE and made.get(key) != asked[key]]
    if different:
        told = ", ".join(f"{key} {_short(made.get(key))}, not {_short(asked[key])}" for key in different)
        raise ValueError(f"{path} was made with {told}: give the same settings, or ask for a fresh start.")
    return tensors, note


def _short(value: Any) -> str:
    """A sha256 by its first digits, anything else as it is."""
    return value[:12] if isinstance(value, str) and len(value) == 64 else str(value)


def load_model_state(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    model.load_state_dict({key.removeprefix("model/"): x for key, x in tensors.items() if key.startswith("model/")})


def load_optimizer_state(optimizer: torch.optim.Optimizer, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    names = {parameter: name for name, parameter in model.named_parameters()}
    state = optimizer.state_dict()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for index, parameter in enumerate(parameters):
        prefix = f"optimizer/{names[parameter]}/"
        entry = {key.removeprefix(prefix): x for key, x in tensors.items() if key.startswith(prefix)}
        if entry:
            state["state"][index] = entry
    optimizer.load_state_dict(state)
