"""State files: all that a learner has learned, in sections (sections/). Older formats are read too (old/).

    origin, remark = save(path, content, origin, lock=None, overwrite=False)
    content, origin = load(path)
    learner, origin, remark = rollback(path, use, lock=None)
    from_bytes(to_bytes(content), title)

A state belongs to one model, by checksum. A remark says why a power cut might still undo what was done; it is empty
as a rule. docs/state-format.md is the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bitreplay.modelfile.container import ContainerError, DamagedFile, read_whole
from bitreplay.sections import FormError, Piece, pieces
from bitreplay.statefile.content import Content, StateFileError, to_sections
from bitreplay.statefile.old import hash_of_format_2
from bitreplay.statefile.reading import checked_start, content_of
from bitreplay.statefile.revisions import (
    Lock,
    StateInUse,
    before_of,
    checksum,
    checksum_in,
    need_before,
    put_back,
    real_path,
    write_revision,
)
from bitreplay.statefile.verify import verify
from bitreplay.strategies import STRATEGIES

__all__ = ["Content", "Lock", "Origin", "StateFileError", "StateFileWarning", "StateInUse", "checksum", "copied"]
__all__ += ["from_bytes", "hash_of_format_2", "load", "rollback", "save", "to_bytes", "verify", "way_back"]

MAX_BYTES = 4 << 30
T = TypeVar("T")


class StateFileWarning(UserWarning):
    """A state was saved or rolled back, but something else failed; one sentence says what."""


@dataclass(frozen=True)
class Origin:
    """Where a learner's state was last read from or written to, and whether something was forgotten since.

    `cleared` are the files whose revision before has been rewritten since then. `begun` is a file that a save has
    begun to write, and the checksum that it has if that was done: a save may be stopped after its last step.
    """

    path: Path | None = None
    checksum: str = ""
    forgets: bool = False
    cleared: frozenset[Path] = frozenset()
    begun: tuple[Path, str] | None = None

    def without_past(self) -> Origin:
        return replace(self, forgets=True, cleared=frozenset())


def save(
    path: Path, content: Content, origin: Origin, lock: Lock | None = None, overwrite: bool = False,
    begin: Callable[[Origin], None] = lambda origin: None,
) -> tuple[Origin, str]:  # fmt: skip
    """Write a new revision; the one before stays beside it unless something was forgotten.

    `begin` is called with the origin that holds from then on, in case this is stopped before it returns.
    """
    path = real_path(path)
    data = _packed(path, content)
    digest = checksum_in(data[0])
    with lock.used_for(path) if lock is not None else Lock(path):
        there = checksum(path)
        if origin.begun == (path, there):
            origin = replace(origin, path=path, checksum=there)
        if there and not overwrite:
            _refuse_a_stranger(path, there, origin)
        begin(replace(origin, begun=(path, digest)))
        keep = not origin.forgets or path in origin.cleared
        remark = write_revision(path, data, keep, lambda written: verify(written, digest))
    return Origin(path, digest, origin.forgets, origin.cleared | {path}), remark


def load(path: Path) -> tuple[Content, Origin]:
    """Read a file and check it as one from outside: whoever wrote it, it may have come from anywhere."""
    path = real_path(path)
    try:
        data = read_whole(path, MAX_BYTES, checked_start)
        content = content_of(data, str(path), copy=False)
    except ContainerError as error:
        raise StateFileError(f"{error}{way_back(path, error)}") from None
    return _proved(content, str(path)), Origin(path, checksum_in(data))


def way_back(path: Path, error: ContainerError) -> str:
    """One more sentence for a state that is damaged or missing, if the revision before it can be read."""
    if not isinstance(error, DamagedFile):
        return ""
    try:
        before = before_of(real_path(path))
        content_of(read_whole(before, MAX_BYTES, checked_start), str(before), copy=False)
    except (ContainerError, StateFileError):
        return ""
    return f" The state before it is whole: bitreplay rollback {path} goes back to it."


def to_bytes(content: Content) -> bytes:
    """What `save` would write."""
    return b"".join(_packed("The state", content))


def from_bytes(data: bytes, title: str) -> Content:
    """The content of a file's bytes, checked as `load` checks a file."""
    return _proved(_unpacked(data, title), title)


def copied(content: Content, title: str) -> Content:
    """A copy through the bytes of a file; without the long checks, since the state is this program's own."""
    return _unpacked(to_bytes(content), title)


def rollback(path: Path, use: Callable[[Content], T], lock: Lock | None = None) -> tuple[T, Origin, str]:
    """Replace the last revision by the one before.

    `use` is called first with what that holds, and may refuse it; its result is returned.
    """
    path = real_path(path)
    need_before(path)
    used: list[tuple[T, Origin]] = []

    def readable(before: Path) -> None:
        content, origin = load(before)
        used.append((use(content), replace(origin, path=path)))

    with lock.used_for(path) if lock is not None else Lock(path):
        remark = put_back(path, readable)
    return *used[0], remark


def _unpacked(data: bytes, title: str) -> Content:
    try:
        return content_of(data, title)
    except ContainerError as error:
        raise StateFileError(str(error)) from None


def _proved(content: Content, title: str) -> Content:
    """The content, after the checks that take longer than reading, for states from outside."""
    try:
        STRATEGIES[content.settings.strategy].prove(content.state)
    except ValueError as error:
        raise StateFileError(f"{title} cannot be used: {error}") from None
    return content


def _packed(path: Path | str, content: Content) -> list[Piece]:
    """The bytes of the file, piece by piece; StateFileError if no reader would accept them."""
    try:
        data = pieces(to_sections(content))
    except FormError as error:
        raise StateFileError(f"{path} cannot be written: {error}") from None
    if (size := sum(len(piece) for piece in data)) > MAX_BYTES:
        raise StateFileError(f"{path} cannot be written: it has {size} bytes, at most {MAX_BYTES} are allowed.")
    return data


def _refuse_a_stranger(path: Path, there: str, origin: Origin) -> None:
    if origin.path != path:
        raise StateFileError(f"{path} exists and holds another state; save with overwrite=True to replace it.")
    if origin.checksum != there:
        raise StateFileError(f"{path} was changed by another process since it was loaded; load it again.")
