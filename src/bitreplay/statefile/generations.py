"""Two generations of a file, written so that power may fail at any moment, and a lock against a second process.

NAME            the last generation, always whole
NAME.before     the one before it
NAME.lock       locked while a process writes, or learns and then writes; never removed
NAME.PID.part   being written; one left behind by a killed process is swept away by the next writer
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType

from bitreplay.modelfile.container import BEGIN, DIGITS, sync_directory, write_whole, written_beside
from bitreplay.statefile.content import StateFileError


class StateInUse(StateFileError):
    """Another process holds the lock."""


class Lock:
    """Excludes other writers of a state file, in this process and in others; the system frees it with the process.

    with Lock(path) as lock:
        learner = Learner.load(path)
        ...
        learner.save(path, lock=lock)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = real_path(Path(path))
        self._descriptor = -1

    def __enter__(self) -> Lock:
        try:
            descriptor = os.open(
                self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644
            )
        except OSError as error:
            raise _sentence(self.path, error) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise _sentence(self.path, error) from None
            raise StateInUse(f"{self.path} is in use by another process; try again when it has finished.") from None
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        self._descriptor = -1

    def used_for(self, path: Path) -> AbstractContextManager[object]:
        """This lock, already held, for a write to `path`."""
        if self._descriptor < 0 or self.path != path:
            raise ValueError(f"The lock is not held for {path}.")
        return nullcontext()


def real_path(path: Path) -> Path:
    """Behind links, so that one file has one lock and is never replaced by way of a link to it."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def write_generation(path: Path, data: bytes, keep: bool) -> None:
    """Replace the file; keep the old one as the generation before, or else write that anew too.

    Whatever is cut off, `path` holds the old content or the new one. When the old one must go, the generation before is
    replaced first: if the second replacement does not happen, the whole call can be repeated.
    """
    before = _before(path)
    try:
        _sweep(path)
        with written_beside(path, data) as beside:
            if not keep:
                write_whole(before, data)
            elif path.exists():
                _link(path, before)
            os.replace(beside, path)
        sync_directory(path.parent)
    except OSError as error:
        raise _sentence(path, error) from None


def put_back(path: Path, check: Callable[[Path], object]) -> None:
    before = _before(path)
    if not before.exists():
        raise StateFileError(f"{path} has no generation before this one to go back to.")
    check(before)
    try:
        os.replace(before, path)
        sync_directory(path.parent)
    except OSError as error:
        raise _sentence(path, error) from None


def checksum(path: Path) -> str:
    """The checksum that the file's header begins with; empty if there is no file."""
    try:
        with open(path, "rb") as file:
            start = file.read(8 + len(BEGIN) + DIGITS)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _sentence(path, error) from None
    return start[8 + len(BEGIN) :].decode("ascii", "replace") or "not a state"


def _before(path: Path) -> Path:
    return path.with_name(path.name + ".before")


def _sweep(path: Path) -> None:
    """Remove what killed writers left; a user's own files may end in .part too."""
    left = re.compile(rf"{re.escape(path.name)}(\.before)?\.\d+\.part")
    for name in os.listdir(path.parent):
        if left.fullmatch(name):
            (path.parent / name).unlink(missing_ok=True)


def _link(path: Path, before: Path) -> None:
    """`before` becomes what `path` is now, in one step; a file system without links gets a copy."""
    beside = before.with_name(f"{before.name}.{os.getpid()}.part")
    try:
        os.link(path, beside)
    except OSError:
        write_whole(before, path.read_bytes())
        return
    try:
        os.replace(beside, before)
    finally:
        beside.unlink(missing_ok=True)  # renaming a link over another link to the same file does nothing


def _sentence(path: Path, error: OSError) -> StateFileError:
    return StateFileError(f"{path} cannot be written: {error.strerror}. The state on disk is the old one.")
