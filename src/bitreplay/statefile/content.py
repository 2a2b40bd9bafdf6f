"""What a state file holds, to and from sections (docs/state-format.md).

Nothing here knows a part's fields: the strategy that the settings name reads them. A file that holds a section which
this program would not write is refused, so that what is read and written again is the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.bit_widths import Bits
from bitreplay.learning.classes import Name, kept_name
from bitreplay.parts.part import ArrayState
from bitreplay.parts.state import State
from bitreplay.sections import FormError, Value
from bitreplay.settings import MAX_SIZE, Settings
from bitreplay.strategies import STRATEGIES

NOT_KEPT = ("micro_batch_size", "size")  # the machine's; the size stands with the model
Sections = dict[str, Value]


class StateFileError(ValueError):
    """A state that cannot be read or written; one sentence says why."""


@dataclass(frozen=True)
class Content:
    """A state, the settings it was learned with, and the model that it belongs to.

    `size` is the side of the images that the network saw. Files of formats 1 and 2 that name none mean the model's own:
    then it is None.
    """

    model: str
    digest: str
    settings: Settings
    state: State
    size: int | None = None


def to_sections(content: Content) -> Sections:
    """All sections of the file."""
    state, size = content.state, content.size
    if size is None:
        raise FormError("the size of its images is not known; load it with its model first.")
    notes: Sections = {name: np.int64(value) for name, value in state.notes.items()}
    return {
        **state.learned(),
        **model_sections(content.model, content.digest, size),
        **_prefixed("notes/", notes | dict(state.note_arrays)),
        **settings_sections(content.settings),
        **version_sections(content.settings.strategy),
    }


def model_sections(name: str, digest: str, size: int) -> Sections:
    return {"model/digest": digest, "model/name": name, "model/size": np.int64(size)}


def version_sections(strategy: str) -> Sections:
    return {f"versions/{name}": np.int64(kind.version) for name, kind in STRATEGIES[strategy].kinds.items()}


def settings_sections(settings: Settings) -> Sections:
    """Integers are uint64, bit widths text; a setting that is None has no section."""
    values = {setting.name: getattr(settings, setting.name) for setting in fields(settings)}
    return {
        f"settings/{name}": value if isinstance(value, bool | Fraction) else
        np.uint64(value) if isinstance(value, int) else str(value) if isinstance(value, Bits) else value
        for name, value in values.items() if value is not None and name not in NOT_KEPT
    }  # fmt: skip


def from_sections(sections: Mapping[str, Value], title: str) -> Content:
    """Everything is checked before a learner takes it; a file that does not fit is refused."""
    try:
        content = _content(sections)
        known = to_sections(content)
        for name in sorted(set(sections) ^ set(known)):
            raise ValueError(f"Its section {name[:60]!r} is {'not known' if name in sections else 'missing'}.")
        for name in known:
            same = not name.startswith("settings/") or _same(sections[name], known[name])
            need(same, f"Its section {name[:60]!r} does not have the one form of its value.")
        return content
    except (KeyError, TypeError, ValueError) as error:
        raise StateFileError(f"{title} cannot be used: {reason(error)}") from None


def _content(sections: Mapping[str, Value]) -> Content:
    size = _integer(sections, "model/size")
    need(1 <= size <= MAX_SIZE, f"Its images have the side {size}.")
    given = {name: _setting(name, value) for name, value in _named(sections, "settings/").items()}
    for name in NOT_KEPT:
        need(name not in given, f"Its section 'settings/{name}' is not known.")
    settings = Settings.of(**given, size=size)
    names = sections["learned/classes"]
    need(isinstance(names, tuple), "Its classes are not names.")
    counted = _named(sections, "learned/counters/") | _named(sections, "notes/")
    scalars = {name: value for name, value in counted.items() if isinstance(value, np.ndarray) and not value.ndim}
    counters = {name: int(value) for name, value in scalars.items() if value.dtype == np.int64}
    notes = {name: value for name, value in counted.items() if isinstance(value, np.ndarray) and value.ndim}
    versions = {name: _integer(sections, f"versions/{name}") for name in _named(sections, "versions/")}
    parts = parts_of(_named(sections, "learned/parts/"), versions)
    state = STRATEGIES[settings.strategy].read(checked_names(names), parts, counters, notes)
    return Content(_text(sections, "model/name"), _text(sections, "model/digest"), settings, state, size)


def parts_of(arrays: Mapping[str, Any], versions: Mapping[str, int]) -> dict[str, ArrayState]:
    """The arrays of each part, by `part.array`, and its version."""
    parts: dict[str, dict[str, Any]] = {part: {} for part in versions}
    for name, array in arrays.items():
        part, _, rest = name.partition(".")
        need(isinstance(array, np.ndarray), f"Its part {part[:40]!r} has something else than arrays.")
        parts.setdefault(part, {})[rest] = array
    return {part: ArrayState(own, version=versions.get(part, 1)) for part, own in parts.items()}


def checked_names(names: Any) -> tuple[Name | None, ...]:
    need(isinstance(names, list | tuple), "Its names are not a list.")
    known = [kept_name(name) for name in names if name is not None]
    need(len(set(known)) == len(known), "Two of its classes have the same name.")
    return tuple(names)


def reason(error: Exception) -> str:
    return f"{error} is missing." if isinstance(error, KeyError) else str(error)


def _prefixed(prefix: str, sections: Mapping[str, Value]) -> Sections:
    return {prefix + name: value for name, value in sections.items()}


def _named(sections: Mapping[str, Value], prefix: str) -> Sections:
    return {name.removeprefix(prefix): value for name, value in sections.items() if name.startswith(prefix)}


def _is_scalar(value: Value, dtype: type) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype == dtype


def _integer(sections: Mapping[str, Value], name: str) -> int:
    value = sections[name]
    need(_is_scalar(value, np.int64), f"Its section {name[:60]!r} is not an integer.")
    return int(value)  # type: ignore[arg-type]


def _text(sections: Mapping[str, Value], name: str) -> str:
    value = sections[name]
    need(isinstance(value, str), f"Its section {name[:60]!r} is not text.")
    return str(value)


def _setting(name: str, value: Value) -> Any:
    if isinstance(value, bool | str | Fraction):
        return value
    need(_is_scalar(value, np.uint64), f"Its setting {name[:40]!r} has a value of no setting's type.")
    return int(value)  # type: ignore[arg-type]


def _same(one: Value, other: Value) -> bool:
    if not isinstance(one, np.ndarray):
        return type(one) is type(other) and one == other
    return one.dtype == np.asarray(other).dtype and one.shape == () and bool(one == other)


def need(condition: bool, sentence: str) -> None:
    if not condition:
        raise StateFileError(sentence)
