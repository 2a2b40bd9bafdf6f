"""Projection files, companions of a model file: axes, scales and offsets of engine/projection.py, and which model and
numbers they belong to (docs/file-format.md). A file with a prior, that is a root, a shrinkage of its own or a number of
components by default, has version 2."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay.engine.projection import Projection
from bitreplay.engine.shrinkage import EXACT, Shrinkage
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
VERSION, VERSION_WITH_PRIOR = "1", "2"
MAX_BYTES = 96 << 20
ARRAYS = {"axes": (np.int8, 2), "scales": (np.int32, 1), "offsets": (np.int64, 1)}


@dataclass(frozen=True)
class ProjectionFile:
    """`model` is the digest of the network, `about` how the axes were found; with `default_components` a learner that
    names neither layers nor components uses so many."""

    projection: Projection
    model: str
    about: dict[str, Any]
    default_components: int | None = None

    def __post_init__(self) -> None:
        components, most = self.default_components, len(self.projection)
        if components is not None and (type(components) is not int or not 1 <= components <= most):
            raise ValueError(f"default_components must be an integer from 1 to {most}")


def save(content: ProjectionFile, path: str | os.PathLike[str]) -> None:
    projection = content.projection
    fields = {"model": content.model, "numbers": projection.feature_layers, "shift": projection.shift}
    prior = _prior(content)
    texts = {
        "format": FORMAT,
        "version": VERSION_WITH_PRIOR if prior else VERSION,
        "projection": _text(fields | prior),
        "about": _text(content.about),
    }
    write_whole(Path(path), pack_container({name: getattr(projection, name) for name in ARRAYS}, texts))


def load(path: str | os.PathLike[str]) -> ProjectionFile:
    try:
        arrays, texts = unpack_container(read_whole(Path(path), MAX_BYTES), str(path))
        need(texts.get("format") == FORMAT, f"{path} is not a projection file.")
        version = texts.get("version", "")[:40]
        known = version in (VERSION, VERSION_WITH_PRIOR)
        need(known, f"{path} has version {version!r}; this program reads versions {VERSION} and {VERSION_WITH_PRIOR}.")
        need(set(texts) == {"sha256", "format", "version", "projection", "about"}, "Metadata is incomplete.")
        fields = parse(texts["projection"], "the projection")
        prior, components = {}, None
        if version == VERSION_WITH_PRIOR:
            components = fields.pop("default_components", None)
            prior = _read_prior(fields.pop("root", None), fields.pop("shrinkage", None))
        kinds = {"model": str, "numbers": str, "shift": int}
        complete = set(fields) == set(kinds) and all(type(fields[name]) is kind for name, kind in kinds.items())
        need(complete, "Its text must have model, numbers and shift.")
        fits = {name: (array.dtype.type, array.ndim) for name, array in arrays.items()} == ARRAYS
        need(fits, "Its arrays must be axes, scales and offsets.")
        about = parse(texts["about"], "the description")
        try:
            projection = Projection(fields["numbers"], **arrays, shift=fields["shift"], **prior)  # type: ignore[arg-type]
            return ProjectionFile(projection, fields["model"], about, components)
        except ValueError as error:
            raise ModelFileError(f"{error}.") from None
    except ContainerError as error:
        message = str(error)
        raise ModelFileError(message if str(path) in message else f"{path} cannot be used: {message}") from None


def _prior(content: ProjectionFile) -> dict[str, Any]:
    """Its fields; none if the file has nothing of it."""
    projection, components = content.projection, content.default_components
    if not projection.root and projection.shrinkage == EXACT and components is None:
        return {}
    cap, top, bottom, pictures = projection.shrinkage.terms
    shrinkage = {"cap": cap, "factor": [top, bottom], "pictures": pictures}
    more = {} if components is None else {"default_components": components}
    return {"root": projection.root, "shrinkage": shrinkage, **more}


def _read_prior(root: Any, shrinkage: Any) -> dict[str, Any]:
    """`root` and `shrinkage` of a projection."""
    need(type(root) is bool, "Its root must be true or false.")
    named = isinstance(shrinkage, dict) and set(shrinkage) == {"cap", "factor", "pictures"}
    need(named, "Its shrinkage must have cap, factor and pictures.")
    cap, factor, pictures = shrinkage["cap"], shrinkage["factor"], shrinkage["pictures"]
    whole = isinstance(factor, list) and len(factor) == 2 and {type(term) for term in (cap, pictures, *factor)} == {int}
    need(whole and factor[1] != 0, "Its shrinkage must be integers, its factor two of them.")
    try:
        return {"root": root, "shrinkage": Shrinkage(cap, Fraction(*factor), pictures)}
    except ValueError as error:
        raise ModelFileError(f"{error}.") from None


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
