"""State files with something changed in them, and a checksum that fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bitreplay import sections

Arrays = dict[str, np.ndarray]
Change = Callable[[Arrays, dict[str, Any], dict[str, Any]], object]
PARTS, CLASSES, COUNTERS, NOTES = "learned/parts/", "learned/classes", "learned/counters/", "notes/"


def opened(data: bytes) -> dict[str, Any]:
    """Its sections; arrays may be changed."""
    return dict(sections.unpack(data, "it"))


def sealed(found: dict[str, Any]) -> bytes:
    return b"".join(sections.pieces(found))


def edited(data: bytes, change: Change) -> bytes:
    """`change` gets the arrays by part, what was learned besides (`names`, and counters by name), and other sections.

    Values may be anything that a section can hold; Python's integers become int64.
    """
    found = opened(data)
    arrays = {name.removeprefix(PARTS): value for name, value in found.items() if name.startswith(PARTS)}
    places = {name.rpartition("/")[2]: name for name in found if name.startswith((COUNTERS, NOTES))}
    learned = {"names": list(found[CLASSES])} | {short: plain(found[name]) for short, name in places.items()}
    others = {name: found[name] for name in found if not name.startswith(("learned/", NOTES))}
    change(arrays, learned, others)
    names = learned.pop("names", None)
    result = {PARTS + name: array for name, array in arrays.items()} | others
    result |= {places.get(name, COUNTERS + name): stored(value) for name, value in learned.items()}
    if names is not None:
        result[CLASSES] = tuple(names) if isinstance(names, list) else stored(names)
    return sealed(result)


def with_arrays(data: bytes, **arrays: np.ndarray) -> bytes:
    return edited(data, lambda a, learned, others: a.update({k.replace("__", "."): v for k, v in arrays.items()}))


def plain(value: Any) -> Any:
    return int(value) if isinstance(value, np.ndarray) and not value.ndim else value


def stored(value: Any) -> Any:
    return np.int64(value) if type(value) is int else value
