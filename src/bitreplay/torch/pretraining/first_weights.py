"""The weights that a run starts from: those of the same network, or those of ReAct-18 at 32x32 for the one at 64x64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bitreplay.torch.models import build
from bitreplay.torch.weights import load_weights

ENLARGED = {"react18_64": "react18"}  # the same network for half the size; only the stems differ
NOTED = ("epochs", "seconds", "top1", "recipe", "date", "before")


def start_from(path: Path, model: str, classes: int, options: dict[str, Any]) -> tuple[nn.Module, dict[str, Any]]:
    """The network with the weights of a file, and how they were trained; raises ValueError if they do not fit."""
    network, note = load_weights(path)
    stored, requested = (note["model"], note["classes"], note.get("options", {})), (model, classes, options)
    before = {key: note.get(key) for key in NOTED}
    if stored == requested:
        return network, before
    if (ENLARGED.get(model), classes, options) != stored:
        raise ValueError(f"{path} holds {stored[0]} with {stored[1]} classes {stored[2]}, not {requested}.")
    weights = network.state_dict()
    weights["stem.0.weight"] = spread(weights["stem.0.weight"])
    larger = build(model, classes, **options)
    larger.load_state_dict(weights)
    return larger, before


def spread(kernel: Tensor) -> Tensor:
    """A 3x3 kernel (O, C, 3, 3) for pixels of half the size: (O, C, 5, 5), each tap divided among those it covers.

    About the middle, tap b of three covers [2b - 3, 2b - 1) small pixels, tap a of five [a - 2.5, a - 1.5). What tap b
    gives to tap a is in proportion to their overlap, and all that it has, so that a flat picture gives the same sum.
    """
    a, b = torch.arange(5.0)[:, None], torch.arange(3.0)[None, :]
    overlap = (torch.minimum(a - 1.5, 2 * b - 1) - torch.maximum(a - 2.5, 2 * b - 3)).clamp(min=0)
    share = overlap / overlap.sum(0)
    return torch.einsum("ocij,ai,bj->ocab", kernel, share, share)
