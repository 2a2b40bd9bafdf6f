"""A new file beside the one that it will replace: whole, synced, and open to nobody to whom the other was not.

It has the mode and owner of the file that it stands for, and 0600 where there is none.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

TRIES = 1000
Buffer = bytes | bytearray | memoryview


@contextmanager
def written_beside(path: Path, data: Sequence[Buffer], like: Path) -> Iterator[Path]:
    """The file of these pieces, to be renamed; it is removed if that does not happen."""
    descriptor, temporary = _created(path)
    try:
        try:
            keep_rights(descriptor, like)
            for piece in data:
                left = memoryview(piece)
                while left:
                    left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        finally:
            with suppress(OSError):  # what was synced is there
                os.close(descriptor)
        yield temporary
    finally:
        with suppress(OSError):  # it has been renamed, or the next writer sweeps it away
            os.unlink(temporary)


def replace_synced(path: Path, data: Sequence[Buffer], like: Path, verify: Callable[[Path], None]) -> None:
    with written_beside(path, data, like) as temporary:
        verify(temporary)
        os.replace(temporary, path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        with suppress(OSError):
            os.close(directory)


def free_names(path: Path) -> Iterator[Path]:
    """Names for a file beside `path`; somebody's folder may have the first one."""
    for number in range(os.getpid(), os.getpid() + TRIES):
        yield path.with_name(f"{path.name}.{number}.part")
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def keep_rights(descriptor: int, like: Path) -> None:
    """Owner and mode of `like`, if it is there. Only root may give files away; a group that cannot be kept gets no
    rights in another group's name."""
    try:
        rights = os.stat(like)
    except FileNotFoundError:
        return
    current, mode = os.fstat(descriptor), stat.S_IMODE(rights.st_mode) & 0o777
    if (current.st_uid, current.st_gid) != (rights.st_uid, rights.st_gid) and not _owned(descriptor, rights):
        mode &= ~stat.S_IRWXG
    if mode != stat.S_IMODE(current.st_mode):
        os.fchmod(descriptor, mode)


def _owned(descriptor: int, like: os.stat_result) -> bool:
    """Whether at least the group is the one wanted."""
    for owner in (like.st_uid, -1):
        with suppress(PermissionError):
            os.fchown(descriptor, owner, like.st_gid)
            return True
    return os.fstat(descriptor).st_gid == like.st_gid


def _created(path: Path) -> tuple[int, Path]:
    for temporary in free_names(path):
        with suppress(FileExistsError):
            return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), temporary
    raise AssertionError("free_names ends with an error")
