"""What a state file holds, to and from the container's named arrays and texts.

Nothing here knows a part's fields: the strategy that the settings name reads them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from bitreplay.learning.classes import Name, kept_name
from bitreplay.modelfile.container import Arrays, ContainerError, parse, raw
from bitreplay.parts.part import ArrayState
from bitreplay.parts.state import State
from bitreplay.settings import Settings
from bitreplay.strategies import STRATEGIES

FORMAT = "bitreplay-state"
VERSION = "2"
VERSIONS = ("1", VERSION)


class StateFileError(ValueError):
    """A state that cannot be read or written; one sentence says why."""


@dataclass(frozen=True)
class Content:
    """A state, the settings it was learned with, and the model that it belongs to."""

    model: str
    digest: str
    settings: Settings
    state: State


def to_file(content: Content) -> tuple[Arrays, dict[str, str]]:
    """Arrays and texts of the file. Equal arrays, such as the head's weights and the tail's copy, are stored once."""
    state = content.state
    arrays = state.arrays()
    same = _equal_ones(arrays)
    learned = {
        "names": list(state.names),
        "parts": {name: kind.version for name, kind in STRATEGIES[content.settings.strategy].kinds.items()},
        "same": same,
        **state.counters(),
        **state.notes,
        **state.texts,
    }
    texts = {
        "format": FORMAT,
        "version": VERSION,
        "model": _text({"name": content.model, "digest": content.digest}),
        "settings": _text(content.settings.to_file()),
        "learned": _text(learned),
    }
    return {name: array for name, array in arrays.items() if name not in same}, texts


def from_file(arrays: Arrays, texts: dict[str, str], title: str) -> Content:
    """Everything is checked before a learner takes it; a file that does not fit is refused."""
    _need(texts.get("format") == FORMAT, f"{title} is not a state file.")
    version = texts.get("version", "")[:40]
    _need(
        version in VERSIONS, f"{title} has version {version!r}; this program reads versions {' and '.join(VERSIONS)}."
    )
    try:
        model, learned = parse(texts["model"], "the model"), parse(texts["learned"], "the counters")
        settings = Settings.from_file(parse(texts["settings"], "the settings"))
        names, parts = _names(learned["names"]), _parts(arrays, learned)
        state = STRATEGIES[settings.strategy].read(names, parts, learned)
        return Content(str(model["name"]), str(model["digest"]), settings, state)
    except (ContainerError, KeyError, TypeError, ValueError) as error:
        raise StateFileError(f"{title} cannot be used: {_reason(error)}") from None


def _parts(arrays: Arrays, learned: dict[str, Any]) -> dict[str, ArrayState]:
    """The arrays of each part, and its version; 0.1 named none and stored every array."""
    versions, same = learned.get("parts", {}), learned.get("same", {})
    fits = isinstance(versions, dict) and all(type(version) is int for version in versions.values())
    _need(fits, "Its table of parts must have integer versions.")
    fits = isinstance(same, dict) and all(
        isinstance(other, str) and other in arrays and name not in arrays for name, other in same.items()
    )
    _need(fits, "Its table of equal arrays is invalid.")
    all_arrays = arrays | {name: arrays[other] for name, other in same.items()}
    parts: dict[str, dict[str, Any]] = {part: {} for part in versions}
    for name, array in all_arrays.items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = array
    return {part: ArrayState(own, version=versions.get(part, 1)) for part, own in parts.items()}


def _equal_ones(arrays: Arrays) -> dict[str, str]:
    """Names of arrays that need not be stored, with the name of the equal one that is. Small ones are not looked at."""
    first: dict[tuple[str, tuple[int, ...], str], str] = {}
    equal = {}
    for name, array in sorted(arrays.items()):
        if array.size > 1:
            digest = hashlib.sha256(raw(array)).hexdigest()
            kind = (array.dtype.str, array.shape, digest)
            if first.setdefault(kind, name) != name:
                equal[name] = first[kind]
    return equal


def _names(names: Any) -> tuple[Name | None, ...]:
    _need(isinstance(names, list), "Its names are not a list.")
    known = [kept_name(name) for name in names if name is not None]
    _need(len(set(known)) == len(known), "Two of its classes have the same name.")
    return tuple(names)


def _need(condition: bool, sentence: str) -> None:
    if not condition:
        raise StateFileError(sentence)


def _reason(error: Exception) -> str:
    return f"{error} is missing." if isinstance(error, KeyError) else str(error)


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
