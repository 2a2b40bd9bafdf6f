"""Files of formats 1 and 2, which are read for ever and written no more: docs/old-state-formats.md.

    from_bytes(data, title, copy)       the content of such a file
    hash_of_format_2(state)             the hash that such files, and results of then, name

Nothing else knows of these formats. They are safetensors with JSON (modelfile/container.py).
"""

from __future__ import annotations

from typing import Any

from bitreplay.modelfile.container import Arrays, ContainerError, parse, unpack_container
from bitreplay.parts.lineage import Lineage
from bitreplay.settings import Settings
from bitreplay.statefile.content import Content, StateFileError, checked_names, need, parts_of, reason
from bitreplay.statefile.old.hashes import hash_of_format_2
from bitreplay.statefile.old.old_settings import settings_of
from bitreplay.strategies import STRATEGIES

__all__ = ["FORMAT", "from_bytes", "hash_of_format_2"]

FORMAT = "bitreplay-state"
VERSIONS = ("1", "2")
DIGITS = 16


def from_bytes(data: bytes | bytearray | memoryview, title: str, copy: bool = True) -> Content:
    """Everything is checked before a learner takes it; ContainerError for what is no such file."""
    arrays, texts = unpack_container(data, title, copy)
    need(texts.get("format") == FORMAT, f"{title} is not a state file.")
    version = texts.get("version", "")[:40]
    need(version in VERSIONS, f"{title} has version {version!r}; this program reads versions 1 to 3.")
    try:
        model, learned = parse(texts["model"], "the model"), parse(texts["learned"], "the counters")
        settings: Settings = settings_of(parse(texts["settings"], "the settings"))
        names, parts = checked_names(learned["names"]), parts_of(_all(arrays, learned), _versions(learned))
        strategy = STRATEGIES[settings.strategy]
        notes = _lineage(learned.get("lineage", "/")) if strategy.note_arrays else {}
        state = strategy.read(names, parts, learned, notes)
        return Content(str(model["name"]), str(model["digest"]), settings, state, settings.size)
    except (ContainerError, KeyError, TypeError, ValueError) as error:
        raise StateFileError(f"{title} cannot be used: {reason(error)}") from None


def _versions(learned: dict[str, Any]) -> dict[str, int]:
    """The version of each part; 0.1 named none."""
    versions = learned.get("parts", {})
    fits = isinstance(versions, dict) and all(type(version) is int for version in versions.values())
    need(fits, "Its table of parts must have integer versions.")
    return versions


def _all(arrays: Arrays, learned: dict[str, Any]) -> Arrays:
    """With those that are stored once, in the place of equal ones."""
    same = learned.get("same", {})
    fits = isinstance(same, dict) and all(
        isinstance(other, str) and other in arrays and name not in arrays for name, other in same.items()
    )
    need(fits, "Its table of equal arrays is invalid.")
    return arrays | {name: arrays[other] for name, other in same.items()}


def _lineage(text: object) -> dict[str, Any]:
    """Marks of 16 hexadecimal digits: those of merged states, "/", those of later experiences."""
    merged, slash, since = text.partition("/") if isinstance(text, str) else ("", "", "")
    fits = all(len(part) % DIGITS == 0 and set(part) <= set("0123456789abcdef") for part in (merged, since))
    need(bool(slash) and fits, "Invalid lineage.")
    marks = [[int(part[at : at + DIGITS], 16) for at in range(0, len(part), DIGITS)] for part in (merged, since)]
    return Lineage(frozenset(marks[0]), tuple(marks[1])).arrays()
