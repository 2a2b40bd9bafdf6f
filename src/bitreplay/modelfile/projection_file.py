"""Projection files, companions of a model file: axes, scales and offsets of engine/projection.py, and which model and
numbers they belong to (docs/file-format.md)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay.engine.projection import Projection
from bitreplay.modelfile.container import (
    ContainerError,
    pack_container,
    parse,
    read_whole,
    unpack_container,
    write_whole,
)
from bitreplay.modelfile.schema import ModelFileError, need

KIND = "projection"
FORMAT = "bitreplay-projection"
VERSION = "1"
MAX_BYTES = 96 << 20
ARRAYS = {"axes": (np.int8, 2), "scales": (np.int32, 1), "offsets": (np.int64, 1)}


@dataclass(frozen=True)
class ProjectionFile:
    """`model` is the digest of the network, `about` how the axes were found."""

    projection: Projection
    model: str
    about: dict[str, Any]


def save(content: ProjectionFile, path: str | os.PathLike[str]) -> None:
    projection = content.projection
    texts = {
        "format": FORMAT,
        "version": VERSION,
        "projection": _text({"model": content.model, "numbers": projection.feature_layers, "shift": projection.shift}),
        "about": _text(content.about),
    }
    write_whole(Path(path), pack_container({name: getattr(projection, name) for name in ARRAYS}, texts))


def load(path: str | os.PathLike[str]) -> ProjectionFile:
    try:
        arrays, texts = unpack_container(read_whole(Path(path), MAX_BYTES), str(path))
        need(texts.get("format") == FORMAT, f"{path} is not a projection file.")
        version = texts.get("version", "")[:40]
        need(version == VERSION, f"{path} has version {version!r}; this program reads version {VERSION}.")
        need(set(texts) == {"sha256", "format", "version", "projection", "about"}, "Metadata is incomplete.")
        fields = parse(texts["projection"], "the projection")
        kinds = {"model": str, "numbers": str, "shift": int}
        complete = set(fields) == set(kinds) and all(type(fields[name]) is kind for name, kind in kinds.items())
        need(complete, "Its text must have model, numbers and shift.")
        fits = {name: (array.dtype.type, array.ndim) for name, array in arrays.items()} == ARRAYS
        need(fits, "Its arrays must be axes, scales and offsets.")
        try:
            projection = Projection(fields["numbers"], **arrays, shift=fields["shift"])
        except ValueError as error:
            raise ModelFileError(f"{error}.") from None
        return ProjectionFile(projection, fields["model"], parse(texts["about"], "the description"))
    except ContainerError as error:
        message = str(error)
        raise ModelFileError(message if str(path) in message else f"{path} cannot be used: {message}") from None


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
