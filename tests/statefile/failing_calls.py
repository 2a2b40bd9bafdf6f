"""File calls that fail, one at a time: every call in a folder is counted, and the one of a given number raises EIO."""

from __future__ import annotations

import builtins
import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BY_PATH = ("open", "replace", "link", "unlink", "stat", "listdir")
BY_DESCRIPTOR = ("write", "fsync", "fstat", "fchmod", "fchown", "close")


class Calls:
    """The calls that were made; number `failing`, counted from 0, does not reach the disk."""

    def __init__(self, folder: Path, failing: int | None) -> None:
        self.folder, self.failing = str(folder), failing
        self.made: list[str] = []
        self._descriptors: set[int] = set()

    def watched(self, name: str, function: Callable, by_path: bool) -> Callable:
        def call(*arguments: Any, **named: Any) -> Any:
            mine = self._inside(arguments[0]) if by_path else arguments[0] in self._descriptors
            if mine:
                self.made.append(name)
                if len(self.made) - 1 == self.failing:
                    if name == "close":  # the system frees it all the same
                        function(*arguments)
                        self._descriptors.discard(arguments[0])
                    raise OSError(errno.EIO, os.strerror(errno.EIO), str(arguments[0]))
            result = function(*arguments, **named)
            if mine and function is _os_open:
                self._descriptors.add(result)
            if mine and name == "close":
                self._descriptors.discard(arguments[0])
            return result

        return call

    def _inside(self, path: object) -> bool:
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self.folder)


_os_open = os.open


@contextmanager
def calls(folder: Path, failing: int | None = None) -> Iterator[Calls]:
    found = Calls(folder, failing)
    with pytest.MonkeyPatch.context() as patch:
        for name in (*BY_PATH, *BY_DESCRIPTOR):
            patch.setattr(os, name, found.watched(name, getattr(os, name), name in BY_PATH))
        patch.setattr(fcntl, "flock", found.watched("flock", fcntl.flock, False))
        patch.setattr(builtins, "open", found.watched("read", builtins.open, True))
        yield found
