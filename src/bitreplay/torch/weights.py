"""Trained weights on disk: one file at full precision, or parts of half precision small enough to send.

Note of a file: {"model", "classes", "top1", "recipe", ...}. Half precision keeps every sign: a latent weight too small
for it becomes the smallest number of its sign, since sign(-0) would be +1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from . import tensorfile
from .models import build

SMALLEST_HALF = 2.0**-24


def half_with_sign(x: Tensor) -> Tensor:
    """float32 -> float16 with the same sign everywhere (sign(0) = +1)."""
    y = x.clamp(-65504, 65504).half()
    return torch.where((x < 0) & (y == 0), torch.tensor(-SMALLEST_HALF, dtype=torch.float16, device=x.device), y)


def save_weights(path: Path, model: nn.Module, note: Mapping[str, Any]) -> None:
    tensorfile.save(path, model.state_dict(), note)


def export_parts(
    folder: Path, name: str, model: nn.Module, note: Mapping[str, Any], most_bytes: int = 15 * 2**20
) -> list[Path]:
    """Write `name.K-of-N.safetensors`, none above `most_bytes`: vectors in full precision, the rest in half."""
    parts: list[dict[str, Tensor]] = [{}]
    room = most_bytes - 65536  # the header's share
    for key, value in model.state_dict().items():
        tensor = half_with_sign(value) if value.dim() > 1 else value
        size = tensor.numel() * tensor.element_size()
        if size > most_bytes - 65536:
            raise ValueError(f"Tensor {key!r} has {size} bytes, more than a part may hold.")
        if size > room:
            parts.append({})
            room = most_bytes - 65536
        parts[-1][key] = tensor
        room -= size
    paths = [folder / f"{name}.{k}-of-{len(parts)}.safetensors" for k in range(1, len(parts) + 1)]
    for path, part in zip(paths, parts, strict=True):
        tensorfile.save(path, part, note)
    return paths


def load_weights(path: Path) -> tuple[nn.Module, dict[str, Any]]:
    """Model and note from one file, or from all parts when `path` is any one of them."""
    paths = [path]
    if "-of-" in path.name:
        name, count, suffix = path.name.rsplit(".", 2)[0], path.name.split("-of-")[1].split(".")[0], path.suffix
        paths = [path.with_name(f"{name}.{k}-of-{count}{suffix}") for k in range(1, int(count) + 1)]
    state: dict[str, Tensor] = {}
    note: dict[str, Any] = {}
    for part in paths:
        tensors, note = tensorfile.load(part)
        state |= tensors
    model = build(note["model"], note["classes"], **note.get("options", {}))
    model.load_state_dict({key: x.float() if x.is_floating_point() else x for key, x in state.items()})
    return model, note
