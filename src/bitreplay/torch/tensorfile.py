"""Named tensors and a JSON note in one file: checkpoints and exported weights. The container is safetensors; no pickle.

Layout: 8 bytes little-endian header length, JSON header {name: {dtype, shape, data_offsets}, "__metadata__": {...}},
then the bytes of the tensors. A file is written beside its target, synced and renamed, so that it is never incomplete.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

DTYPES = {
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I8": torch.int8,
    "U8": torch.uint8,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def save(path: Path, tensors: Mapping[str, Tensor], note: Mapping[str, Any]) -> None:
    """Write tensors and `note` (anything JSON holds) to `path` atomically."""
    header: dict[str, Any] = {"__metadata__": {"note": json.dumps(note)}}
    offset = 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        offsets = [offset, offset + size]
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": offsets}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    with open(temporary, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def load(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors (on the CPU) and the note of a file that `save` wrote."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ValueError(f"{path} is not a tensor file: its header does not fit into {len(data)} bytes.")
    try:
        header = json.loads(data[8 : 8 + length])
        note = json.loads(header.pop("__metadata__")["note"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a tensor file of this program: its header cannot be read.") from error
    body = memoryview(data)[8 + length :]
    tensors = {}
    for name, entry in header.items():
        dtype, shape, (start, stop) = _described(path, name, entry)
        if not 0 <= start <= stop <= len(body) or stop - start != torch.Size(shape).numel() * dtype.itemsize:
            raise ValueError(f"{path} is damaged: tensor {name!r} does not have the size that its header claims.")
        raw = torch.frombuffer(bytearray(body[start:stop]), dtype=torch.uint8) if stop > start else torch.empty(0)
        tensors[name] = raw.view(dtype).reshape(shape) if stop > start else torch.empty(shape, dtype=dtype)
    return tensors, note


def _described(path: Path, name: str, entry: Any) -> tuple[torch.dtype, list[int], tuple[int, int]]:
    """Type, shape and offsets of a tensor, from the header."""
    try:
        kind, shape, (start, stop) = entry["dtype"], list(entry["shape"]), entry["data_offsets"]
        valid = all(isinstance(number, int) and number >= 0 for number in (*shape, start, stop))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: its header does not describe tensor {name!r}.") from error
    if not valid:
        raise ValueError(f"{path} is damaged: tensor {name!r} has shape {shape} at {start} to {stop}.")
    if kind not in DTYPES:
        raise ValueError(f"{path} has a tensor {name!r} of type {kind!r}; expected one of {', '.join(DTYPES)}.")
    return DTYPES[kind], shape, (start, stop)
