"""Two revisions of a file, written so that power may fail at any moment, and a lock against a second process.

NAME            the last revision, always whole
NAME.before     the one before it
NAME.lock       locked while a process writes, or learns and then writes; never removed
NAME.PID.part   being written; one left behind by a killed process is swept away by the next writer

A save or a rollback is done with one rename. What fails before it leaves the old state; what fails after it can no more
undo it, so it is a remark and no error.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import re
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from bitreplay import sections
from bitreplay.modelfile.container import BEGIN, DIGITS
from bitreplay.statefile.atomic_write import (
    Buffer,
    free_names,
    keep_rights,
    replace_synced,
    sync_folder,
    written_beside,
)
from bitreplay.statefile.content import StateFileError


class StateInUse(StateFileError):
    """Another process holds the lock."""


class Lock(io.FileIO):
    """Excludes other writers of a state file, in this process and in others; the system frees it with the process.

    with Lock(path) as lock:
        learner = Learner.load(path)
        ...
        learner.save(path, lock=lock)

    It is itself the file that is locked. So what frees it is the C code of files, of which a signal cannot cut anything
    off; a method in Python may be stopped before its first line (lifecycle/turns.py).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = real_path(Path(path))
        self._taken = False
        try:
            mode, flags = _mode(self.path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            lock_path = self.path.with_name(self.path.name + ".lock")
            super().__init__(lock_path, "r+", opener=lambda name, _: os.open(name, flags, mode))
        except OSError as error:
            raise _sentence(self.path, error) from None

    def __enter__(self) -> Lock:
        try:
            fcntl.flock(self.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._taken = True
            return self
        except BaseException as error:
            self.close()
            if not isinstance(error, OSError):
                raise
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise _sentence(self.path, error) from None
            raise StateInUse(f"{self.path} is in use by another process; try again when it has finished.") from None

    def used_for(self, path: Path) -> AbstractContextManager[object]:
        """This lock, already held, for a write to `path`."""
        if self.closed or not self._taken or self.path != path:
            raise ValueError(f"The lock is not held for {path}.")
        return nullcontext()


def real_path(path: Path) -> Path:
    """Behind links, so that one file has one lock and is never replaced by way of a link to it."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def write_revision(path: Path, data: Sequence[Buffer], keep: bool, verify: Callable[[Path], None]) -> str:
    """Replace the file by these pieces; keep the old one as the revision before, or write that again too. Nothing is
    replaced by what `verify` refuses.

    Wherever it is cut off, `path` holds the old content or the new one. When the old one must go, the revision before
    is replaced first: if the second replacement does not happen, the call can be repeated.
    Returns why a power cut might undo it, or an empty text.
    """
    before = before_of(path)
    try:
        _sweep(path)
        with written_beside(path, data, like=path) as temporary:
            verify(temporary)
            if not keep:
                replace_synced(before, data, like=path, verify=verify)
            elif is_there(path):
                _link(path, before)
            os.replace(temporary, path)
    except StateFileError as error:
        raise StateFileError(f"{path} cannot be written: {error} {_old(path)}") from None
    except OSError as error:
        raise _sentence(path, error) from None
    return _unsynced(path)


def put_back(path: Path, check: Callable[[Path], object]) -> str:
    """Replace the last revision by the one before; returns what `write_revision` does."""
    before = before_of(path)
    try:
        check(before)
        descriptor = os.open(before, os.O_RDONLY | os.O_CLOEXEC)
        try:
            keep_rights(descriptor, like=path)
        finally:
            with suppress(OSError):
                os.close(descriptor)
        os.replace(before, path)
        with suppress(OSError):  # renaming a link over another link to the same file does nothing
            os.unlink(before)
    except OSError as error:
        raise _sentence(path, error) from None
    return _unsynced(path)


def need_before(path: Path) -> None:
    """Refuse a state that has no revision before; called before a lock file is made."""
    try:
        if not is_there(before_of(path)):
            os.stat(path)
            raise StateFileError(f"{path} has no revision before this one to go back to.")
    except OSError as error:
        raise StateFileError(f"{path} cannot be read: {error.strerror}.") from None


def checksum(path: Path) -> str:
    """The checksum that the file begins with; empty if there is no file."""
    try:
        with open(path, "rb") as file:
            start = file.read(8 + len(BEGIN) + DIGITS)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _sentence(path, error) from None
    return checksum_in(start) or "not a state"


def checksum_in(data: Buffer) -> str:
    """The checksum in a file's bytes, or in its first piece, of any format."""
    return sections.checksum_in(data) or bytes(data[8 + len(BEGIN) : 8 + len(BEGIN) + DIGITS]).decode(
        "ascii", "replace"
    )


def before_of(path: Path) -> Path:
    return path.with_name(path.name + ".before")


def is_there(path: Path) -> bool:
    """Like `Path.exists`, but a disk that does not answer raises an OSError."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    return True


def _mode(path: Path) -> int:
    """The mode of the state, for its lock. Raises if the path is not a regular file."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        return 0o600
    if not stat.S_ISREG(about.st_mode):
        raise StateFileError(f"{path} is not a file.")
    return stat.S_IMODE(about.st_mode) & 0o666


def _unsynced(path: Path) -> str:
    try:
        sync_folder(path.parent)
    except OSError as error:
        return f"its folder could not be synced ({error.strerror}), so a power cut may bring the state before back"
    return ""


def _sweep(path: Path) -> None:
    """Remove what killed writers left; a user's own files may end in .part too, and folders are never ours."""
    left = re.compile(rf"{re.escape(path.name)}(\.before)?\.\d+\.part")
    for name in os.listdir(path.parent):
        file = path.parent / name
        if left.fullmatch(name) and not file.is_dir():
            with suppress(FileNotFoundError):
                os.unlink(file)


def _link(path: Path, before: Path) -> None:
    """`before` becomes what `path` is now, in one step; a file system without links gets a copy."""
    try:
        temporary = _linked(path, before)
    except OSError:
        replace_synced(before, [path.read_bytes()], like=path, verify=lambda copied: None)
        return
    try:
        os.replace(temporary, before)
    finally:
        with suppress(OSError):  # renaming a link over another link to the same file does nothing
            os.unlink(temporary)


def _linked(path: Path, before: Path) -> Path:
    for temporary in free_names(before):
        with suppress(FileExistsError):
            os.link(path, temporary)
            return temporary
    raise AssertionError("free_names ends with an error")


def _sentence(path: Path, error: OSError) -> StateFileError:
    return StateFileError(f"{path} cannot be written: {error.strerror}. {_old(path)}")


def _old(path: Path) -> str:
    return "The state on disk is the old one." if os.path.lexists(path) else "Nothing was saved."
