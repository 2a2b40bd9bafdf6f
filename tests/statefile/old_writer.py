"""Files of formats 1 and 2, as versions up to 0.2 wrote them: the package itself writes them no more."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from bitreplay.modelfile.container import pack_container
from bitreplay.parts.lineage import Lineage
from bitreplay.settings import Settings
from bitreplay.statefile import Content
from bitreplay.statefile.old.old_settings import NAMES
from bitreplay.strategies import STRATEGIES


def old_bytes(content: Content, own_size: int, version: int = 2, **changes: Any) -> bytes:
    """`changes` are entries of what was learned."""
    state, settings = content.state, content.settings
    arrays = state.arrays()
    same = equal_ones(arrays) if version == 2 else {}
    learned = {"names": list(state.names), **state.counters(), **state.notes}
    if state.note_arrays:
        learned["lineage"] = lineage_text(Lineage.read(state.note_arrays))
    if version == 2:
        learned |= {"parts": {name: kind.version for name, kind in STRATEGIES[settings.strategy].kinds.items()}}
        learned |= {"same": same}
    texts = {
        "format": "bitreplay-state",
        "version": str(version),
        "model": text({"name": content.model, "digest": content.digest}),
        "settings": text(old_settings(settings, None if content.size == own_size else content.size)),
        "learned": text(learned | changes),
    }
    return pack_container({name: array for name, array in arrays.items() if name not in same}, texts)


def old_settings(settings: Settings, size: int | None) -> dict[str, Any]:
    values = settings.to_dict() | {"size": size}
    components = values.pop("n_components")
    if components is not None:
        layers = f" of {settings.feature_layers}" if settings.feature_layers is not None else ""
        values["feature_layers"] = f"{components}{layers}"
    if size is None:
        del values["size"]
    old = {name: key for key, name in NAMES.items()}
    return {old.get(name, name): value for name, value in values.items()}


def lineage_text(lineage: Lineage) -> str:
    return "/".join("".join(f"{mark:016x}" for mark in part) for part in (sorted(lineage.merged), lineage.since))


def equal_ones(arrays: dict[str, np.ndarray]) -> dict[str, str]:
    first: dict[tuple[str, tuple[int, ...], str], str] = {}
    equal = {}
    for name, array in sorted(arrays.items()):
        if array.size > 1:
            kind = (array.dtype.str, array.shape, hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest())
            if first.setdefault(kind, name) != name:
                equal[name] = first[kind]
    return equal


def text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
