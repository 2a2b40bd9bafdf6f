"""The state of a pre-training run between two epochs, so that a killed run resumes where it stopped.

Everything random is drawn from (seed, epoch), so weights, optimiser state and the position in the schedule are enough.
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
    """The checkpoint of a run that writes `out`."""
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
        raise ValueError(f"{path} is not a checkpoint: it does not say how it was made.")
    saved, current = note["recipe"] | note.get("origin", {}), recipe.as_dict() | dict(origin)
    different = [key for key in current if key not in FREE and saved.get(key) != current[key]]
    if different:
        differences = ", ".join(f"{key} {_short(saved.get(key))}, not {_short(current[key])}" for key in different)
        raise ValueError(f"{path} was made with {differences}: use the same settings, or start afresh.")
    return tensors, note


def _short(value: Any) -> str:
    """The first digits of a sha256; anything else unchanged."""
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
