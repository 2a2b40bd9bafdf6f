"""A world from one seed: a disk whose calls fail or are the last, power that is cut, and Ctrl-C.

Everything that the package asks of the system in one folder goes through it. A kill is simulated: from then on no call
reaches the disk, whatever `finally` still tries. With a power cut, data that was not synced is cut off, and the last
entries of a folder that was not synced are undone.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np

import bitreplay

BY_PATH = ("open", "replace", "link", "unlink", "stat", "listdir")
BY_DESCRIPTOR = ("write", "fsync", "fstat", "fchmod", "fchown", "close")
SOURCE = str(Path(bitreplay.__file__).parent)


class Killed(BaseException):
    """The process has ended here."""


@dataclass
class Trouble:
    """What goes wrong in one event: the numbers of calls that fail, the one that is the last, and of those that signals
    come at. `power` is cut with the kill."""

    failing: frozenset[int] = frozenset()
    last: int = -1
    power: bool = False
    signals: frozenset[int] = frozenset()

    @staticmethod
    def drawn(rng: np.random.Generator, calls: int, functions: int) -> Trouble:
        """One of the sorts, or none, or two. An event makes about so many calls of the disk and of functions."""
        kinds = set(rng.choice(["none", "fail", "kill", "signal"], int(rng.integers(1, 3)), p=[0.35, 0.25, 0.2, 0.2]))
        failing = rng.integers(0, calls, int(rng.integers(1, 3))) if "fail" in kinds else ()
        signals: list[int] = []
        if "signal" in kinds:
            first = int(rng.integers(0, functions))
            signals = [first, *([first + int(rng.integers(1, 8))] if rng.random() < 0.3 else [])]
        last = int(rng.integers(0, calls)) if "kill" in kinds else -1
        return Trouble(frozenset(int(k) for k in failing), last, bool(rng.random() < 0.5), frozenset(signals))


class Disk:
    """The calls of one event. `made` counts them."""

    def __init__(self, folder: Path, trouble: Trouble, rng: np.random.Generator) -> None:
        self._folder, self._trouble, self._rng = str(folder), trouble, rng
        self.made, self.dead, self.functions, self.signalled = 0, False, 0, 0
        self._paths: dict[int, str] = {}
        self._unsynced: set[str] = set()
        self._entries: list[Callable[[], None]] = []
        self._real = {name: getattr(os, name) for name in (*BY_PATH, *BY_DESCRIPTOR)}

    def trouble(self, what: str) -> None:
        """Before a call: it may be one that fails, or the last one."""
        if self.dead:
            raise Killed
        number, self.made = self.made, self.made + 1
        if number == self._trouble.last:
            self.dead = True
            if self._trouble.power:
                self._cut()
            raise Killed
        if number in self._trouble.failing:
            code = errno.ENOSPC if what == "write" else errno.EIO
            raise OSError(code, os.strerror(code))

    def _cut(self) -> None:
        """What was not synced is gone, of the folder's entries the last ones."""
        for path in self._unsynced:
            with suppress(OSError):
                os.truncate(path, int(self._rng.integers(0, os.path.getsize(path) + 1)))
        for undo in self._entries[::-1][: int(self._rng.integers(0, len(self._entries) + 1))]:
            undo()

    def watched(self, name: str) -> Callable[..., Any]:
        function = self._real[name]

        def call(*arguments: Any, **named: Any) -> Any:
            first: Any = arguments[0] if arguments else "."
            mine = self._inside(first) if name in BY_PATH else first in self._paths
            if not mine:
                return function(*arguments, **named)
            if name == "close":
                self._paths.pop(first)
                function(first)  # the system frees it, whatever it says and whoever is dead
                return self.trouble(name)
            self.trouble(name)
            return self._done(name, function, arguments, named)

        return call

    def _done(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if name == "write":
            descriptor, data = arguments
            self._unsynced.add(self._paths[descriptor])
            some = data[: int(self._rng.integers(1, len(data) + 1))] if len(data) and self._rng.random() < 0.3 else data
            return function(descriptor, some)
        if name in ("replace", "link", "unlink"):
            self._entries.append(self._undo(name, *map(os.fspath, arguments)))
        result = function(*arguments, **named)
        if name == "open":
            self._paths[result] = os.fspath(arguments[0])
        if name == "replace" and os.fspath(arguments[0]) in self._unsynced:
            self._unsynced.add(os.fspath(arguments[1]))
        if name == "fsync":
            path = self._paths[arguments[0]]
            self._unsynced.discard(path)
            if os.path.isdir(path):
                self._entries.clear()
        return result

    def _undo(self, name: str, source: str, target: str | None = None) -> Callable[[], None]:
        """What puts the entries back as they are now."""
        before = {path: Path(path).read_bytes() if os.path.isfile(path) else None for path in (source, target) if path}

        def undo() -> None:
            for path, content in before.items():
                with suppress(OSError):
                    os.remove(path)
                if content is not None:
                    Path(path).write_bytes(content)

        return undo

    def _inside(self, path: object) -> bool:
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self._folder)

    def _traced(self, frame: FrameType, event: str, argument: Any) -> None:
        """A signal comes when a function of the package begins, which is where CPython looks for it."""
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            number, self.functions = self.functions, self.functions + 1
            if number in self._trouble.signals and not self.dead:
                self.signalled += 1
                signal.raise_signal(signal.SIGINT)

    @contextmanager
    def working(self) -> Iterator[Disk]:
        """Everything in here asks this disk."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        flock, opened = fcntl.flock, builtins.open

        def locked(descriptor: int, how: int) -> None:
            if descriptor in self._paths:
                self.trouble("flock")
            flock(descriptor, how)

        def read(file: Any, *arguments: Any, **named: Any) -> Any:
            if self._inside(file):
                self.trouble("read")
            return opened(file, *arguments, **named)

        patches = [mock.patch.object(os, name, self.watched(name)) for name in self._real]
        patches += [mock.patch.object(fcntl, "flock", locked), mock.patch.object(builtins, "open", read)]
        for patch in patches:
            patch.start()
        if self._trouble.signals:
            sys.settrace(self._traced)
        try:
            yield self
        finally:
            sys.settrace(None)
            for patch in patches:
                patch.stop()
            signal.signal(signal.SIGINT, before)
            for descriptor in [*self._paths]:
                with suppress(OSError):  # the process is dead, or an interrupt came before it could close
                    os.close(descriptor)
