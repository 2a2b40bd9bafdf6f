"""State files: all that a learner has learned, in the container of model files.

    origin = save(path, content, origin, lock=None, overwrite=False)
    content, origin = load(path)
    rollback(path, lock=None, check=None)
    from_bytes(to_bytes(content), title)

A state belongs to one model, by checksum. docs/state-format.md is the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bitreplay.modelfile.container import ContainerError, pack_container, read_whole, unpack_container
from bitreplay.statefile.content import Content, StateFileError, from_file, to_file
from bitreplay.statefile.generations import Lock, StateInUse, checksum, put_back, real_path, write_generation

__all__ = ["Content", "Lock", "Origin", "StateFileError", "StateInUse", "from_bytes", "load", "rollback", "save"]
__all__ += ["to_bytes"]

MOST_BYTES = 4 << 30


@dataclass(frozen=True)
class Origin:
    """Where a learner's state was last read from or written to, and whether something was forgotten since.

    `cleared` are the files whose generation before has been rewritten since then.
    """

    path: Path | None = None
    checksum: str = ""
    forgets: bool = False
    cleared: frozenset[Path] = frozenset()

    def without_past(self) -> Origin:
        return replace(self, forgets=True, cleared=frozenset())


def save(path: Path, content: Content, origin: Origin, lock: Lock | None = None, overwrite: bool = False) -> Origin:
    """Write a new generation; the one before stays beside it unless something was forgotten."""
    path = real_path(path)
    data = _packed(path, content)
    with lock.used_for(path) if lock is not None else Lock(path):
        there = checksum(path)
        if there and not overwrite:
            _refuse_a_stranger(path, there, origin)
        write_generation(path, data, keep=not origin.forgets or path in origin.cleared)
    return Origin(path, checksum(path), origin.forgets, origin.cleared | {path})


def load(path: Path) -> tuple[Content, Origin]:
    path = real_path(path)
    try:
        data = read_whole(path, MOST_BYTES)
    except ContainerError as error:
        raise StateFileError(str(error)) from None
    content, digest = _unpacked(data, str(path))
    return content, Origin(path, digest)


def to_bytes(content: Content) -> bytes:
    """What `save` would write."""
    return _packed("The state", content)


def from_bytes(data: bytes, title: str) -> Content:
    """Checked as `load` checks a file."""
    return _unpacked(data, title)[0]


def rollback(path: Path, lock: Lock | None = None, check: Callable[[Content], object] | None = None) -> None:
    """Put the generation before in the place of the last one, which is gone then. `check` may refuse what it holds."""
    path = real_path(path)

    def readable(before: Path) -> None:
        content, _ = load(before)
        if check is not None:
            check(content)

    with lock.used_for(path) if lock is not None else Lock(path):
        put_back(path, readable)


def _unpacked(data: bytes, title: str) -> tuple[Content, str]:
    """The content and its checksum."""
    try:
        arrays, texts = unpack_container(data, title)
        return from_file(arrays, texts, title), texts["sha256"]
    except ContainerError as error:
        raise StateFileError(str(error)) from None


def _packed(path: Path | str, content: Content) -> bytes:
    """The bytes of the file, unless no reader would take it."""
    try:
        data = pack_container(*to_file(content))
    except ContainerError as error:
        raise StateFileError(f"{path} cannot be written: {error}") from None
    if len(data) > MOST_BYTES:
        raise StateFileError(f"{path} cannot be written: {len(data)} bytes, of which at most {MOST_BYTES} are read.")
    return data


def _refuse_a_stranger(path: Path, there: str, origin: Origin) -> None:
    if origin.path != path:
        raise StateFileError(f"{path} exists and holds another state; save with overwrite=True to replace it.")
    if origin.checksum != there:
        raise StateFileError(f"{path} was changed by another process since it was loaded; load it again.")
