"""Pictures that arrive in a folder while a command runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bitreplay.data.tree import pictures_below

Stamp = tuple[int, int]


def arrivals(folder: Path, wait: Callable[[], None]) -> Iterator[Path]:
    """Pictures below the folder that are new or changed since the call. One that is still being written is yielded once
    two scans in a row find it unchanged. `wait` passes the time between two scans."""
    return _changed_since(stamps(folder), folder, wait)


def _changed_since(known: dict[Path, Stamp], folder: Path, wait: Callable[[], None]) -> Iterator[Path]:
    before: dict[Path, Stamp] = {}
    while True:
        wait()
        now = stamps(folder)
        for path, stamp in now.items():
            if known.get(path) != stamp and before.get(path) == stamp:
                known[path] = stamp
                yield path
        before = now


def stamps(folder: Path) -> dict[Path, Stamp]:
    """Each picture's time of change and size."""
    stamped = {}
    for path in pictures_below(folder)[0]:
        try:
            status = path.stat()
        except OSError:  # removed meanwhile
            continue
        stamped[path] = status.st_mtime_ns, status.st_size
    return stamped
