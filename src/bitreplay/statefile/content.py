"""What a state file holds, to and from the container's named arrays and texts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.classes import Name, names_of
from bitreplay.modelfile.container import Arrays, ContainerError, parse
from bitreplay.replay import Reservoir
from bitreplay.settings import Settings
from bitreplay.state import State

FORMAT = "bitreplay-state"
VERSION = "1"
COUNTERS = ("offered", "draws", "steps", "experiences")
MOST = 1 << 62


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
    state = content.state
    learned = {"names": list(state.names)} | state.counters()
    texts = {
        "format": FORMAT,
        "version": VERSION,
        "model": _text({"name": content.model, "digest": content.digest}),
        "settings": _text(content.settings.to_json()),
        "learned": _text(learned),
    }
    return state.arrays(), texts


def from_file(arrays: Arrays, texts: dict[str, str], title: str) -> Content:
    """Everything is checked before a learner takes it; a file that does not fit is refused."""
    _need(texts.get("format") == FORMAT, f"{title} is no state file.")
    version = texts.get("version", "")[:40]
    _need(version == VERSION, f"{title} has version {version!r}; this program reads version {VERSION}.")
    try:
        model, learned = parse(texts["model"], "the model"), parse(texts["learned"], "the counters")
        settings = Settings.of(**parse(texts["settings"], "the settings"))
        state = _state(arrays, learned)
        return Content(str(model["name"]), str(model["digest"]), settings, state)
    except (ContainerError, KeyError, TypeError, ValueError) as error:
        raise StateFileError(f"{title} cannot be used: {_reason(error)}") from None


def _state(arrays: Arrays, learned: dict[str, Any]) -> State:
    names = _names(learned["names"])
    counters = {name: learned[name] for name in COUNTERS}
    _need(all(type(n) is int and 0 <= n < MOST for n in counters.values()), "Its counters are no whole numbers.")
    _need(counters["experiences"] < 1 << 31, "It has too many experiences.")
    weights = _array(arrays, "head.consolidated_weights", np.int32, 2)
    past = _array(arrays, "head.past", np.int64, 1)
    named = {number for number, name in enumerate(names) if name is not None}
    fits = len(weights) == len(past) >= len(names) and set(np.flatnonzero(past).tolist()) <= named
    _need(fits and _between(past, 0, MOST), "Its head does not fit its names.")
    kept = _reservoirs(arrays)
    for reservoir in kept.values():
        fits = _between(reservoir.ids, 0, counters["offered"]) and len(set(reservoir.ids.tolist())) == len(reservoir)
        _need(fits and _between(reservoir.origins, 0, counters["experiences"]), "Its memory holds samples never seen.")
    _need(all(0 <= c < len(names) and names[c] is not None for c in kept), "Its memory holds a class without a name.")
    tensors = {name.removeprefix("tail."): values for name, values in arrays.items() if name.startswith("tail.")}
    return State(names, tensors, weights, past, kept, **counters)


def _names(found: Any) -> tuple[Name | None, ...]:
    _need(isinstance(found, list), "Its names are no list.")
    known = names_of([name for name in found if name is not None])
    _need(len(set(known)) == len(known), "Two of its classes have the same name.")
    return tuple(found)


def _reservoirs(arrays: Arrays) -> dict[int, Reservoir]:
    classes = _array(arrays, "memory.classes", np.int32, 1)
    seen, sizes = _array(arrays, "memory.seen", np.int64, 1), _array(arrays, "memory.sizes", np.int32, 1)
    distinct = len(set(classes.tolist()))
    _need(len(classes) == len(seen) == len(sizes) == distinct, "Its memory's tables differ in length.")
    if not len(classes):
        return {}
    codes = _array(arrays, "memory.codes", np.uint64, 4)
    origins, ids = _array(arrays, "memory.origins", np.int32, 1), _array(arrays, "memory.ids", np.int64, 1)
    ends = np.cumsum(sizes, dtype=np.int64)
    fits = int(sizes.min()) >= 0 and len(codes) == len(origins) == len(ids) == ends[-1] and bool((seen >= sizes).all())
    _need(fits and _between(seen, 0, MOST), "Its memory's counts do not fit its samples.")
    parts = [slice(int(end) - int(size), int(end)) for end, size in zip(ends, sizes, strict=True)]
    return {
        int(c): Reservoir(codes[part].copy(), origins[part].copy(), ids[part].copy(), int(seen[k]))
        for k, (c, part) in enumerate(zip(classes, parts, strict=True))
    }


def _between(values: NDArray, low: int, end: int) -> bool:
    """All at least `low` and below `end`."""
    return not len(values) or bool(low <= values.min() and values.max() < end)


def _array(arrays: Arrays, name: str, dtype: type, dimensions: int) -> NDArray:
    found = arrays.get(name)
    if found is None or found.dtype != dtype or found.ndim != dimensions:
        raise StateFileError(f"Its array {name} is missing or of another kind.")
    return found


def _need(condition: bool, sentence: str) -> None:
    if not condition:
        raise StateFileError(sentence)


def _reason(error: Exception) -> str:
    return f"{error} is missing." if isinstance(error, KeyError) else str(error)


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
