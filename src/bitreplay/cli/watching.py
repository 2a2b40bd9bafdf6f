"""Pictures that come into a folder while a command runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bitreplay.data.tree import pictures_below

Stamp = tuple[int, int]


def arrivals(folder: Path, wait: Callable[[], None]) -> Iterator[Path]:
    """Pictures below it that are new or changed since the call, each once, when two looks in a row find it alike: one
    that is still being written is left until it is whole. `wait` passes the time between two looks."""
    known = stamps(folder)
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
    """When each picture was last written, and its bytes."""
    found = {}
    for path in pictures_below(folder)[0]:
        try:
            status = path.stat()
        except OSError:  # gone again
            continue
        found[path] = status.st_mtime_ns, status.st_size
    return found
