"""Trained weights on disk: one file at full precision, or parts small enough to send.

Note of a file: {"model", "classes", "top1", "recipe", ...}. Half precision keeps every sign: a latent weight too small
for it becomes the smallest number of its sign, since sign(-0) would be +1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bitreplay.torch import tensorfile
from bitreplay.torch.models import build

SMALLEST_HALF = 2.0**-24
PART = re.compile(r"(?P<name>.+)\.[0-9]+-of-(?P<count>[0-9]+)(?P<suffix>\.[^.]+)")


def half_with_sign(x: Tensor) -> Tensor:
    """float32 -> float16 with the same sign everywhere (sign(0) = +1)."""
    y = x.clamp(-65504, 65504).half()
    return torch.where((x < 0) & (y == 0), torch.tensor(-SMALLEST_HALF, dtype=torch.float16, device=x.device), y)


def save_weights(path: Path, model: nn.Module, note: Mapping[str, Any]) -> None:
    tensorfile.save(path, model.state_dict(), note)


def export_parts(
    folder: Path, name: str, model: nn.Module, note: Mapping[str, Any], max_bytes: int = 15 * 2**20, half: bool = False
) -> list[Path]:
    """Write `name.K-of-N.safetensors`, none above `max_bytes`; with `half`, all but vectors in half precision."""
    parts: list[dict[str, Tensor]] = [{}]
    room = max_bytes - 65536  # the header's share
    for key, value in model.state_dict().items():
        tensor = half_with_sign(value) if half and value.dim() > 1 else value
        size = tensor.numel() * tensor.element_size()
        if size > max_bytes - 65536:
            raise ValueError(f"Tensor {key!r} has {size} bytes, more than a part may hold.")
        if size > room:
            parts.append({})
            room = max_bytes - 65536
        parts[-1][key] = tensor
        room -= size
    paths = [folder / f"{name}.{k}-of-{len(parts)}.safetensors" for k in range(1, len(parts) + 1)]
    for path, part in zip(paths, parts, strict=True):
        tensorfile.save(path, part, note)
    return paths


def files_of(path: Path) -> list[Path]:
    """The file, or all parts when `path` is any one of them."""
    part = PART.fullmatch(path.name)
    if part is None:
        return [path]
    name, count, suffix = part.group("name", "count", "suffix")
    return [path.with_name(f"{name}.{k}-of-{count}{suffix}") for k in range(1, int(count) + 1)]


def digest_of(path: Path) -> str:
    """sha256 of the file, or of all parts one after the other."""
    digest = hashlib.sha256()
    for part in files_of(path):
        digest.update(part.read_bytes())
    return digest.hexdigest()


def load_weights(path: Path) -> tuple[nn.Module, dict[str, Any]]:
    """Model and note from one file, or from all parts when `path` is any one of them."""
    state: dict[str, Tensor] = {}
    note: dict[str, Any] = {}
    for part in files_of(path):
        tensors, note = tensorfile.load(part)
        state |= tensors
    if "model" not in note or "classes" not in note:
        raise ValueError(f"{path} is not a file of trained weights: it does not say which model it holds.")
    model = build(note["model"], note["classes"], **note.get("options", {}))
    try:
        model.load_state_dict({key: x.float() if x.is_floating_point() else x for key, x in state.items()})
    except RuntimeError as error:
        expected = f"{note['model']} with {note['classes']} classes"
        raise ValueError(f"{path} does not hold {expected}: tensors are missing or have another shape.") from error
    return model, note


def class_names(note: Mapping[str, Any], others: Sequence[str] = ()) -> list[str]:
    """Names for the classes of trained weights: those of the training, else `others`, else numbers.

    Names are ignored if there are not as many as classes.

    >>> class_names({"classes": 2, "class_names": ["cat", "dog"]}, ["a", "b"]), class_names({"classes": 2}, ["a"])
    (['cat', 'dog'], ['0', '1'])
    """
    for names in (note.get("class_names") or (), others):
        if len(names) == note["classes"]:
            return list(names)
    return [str(k) for k in range(note["classes"])]
