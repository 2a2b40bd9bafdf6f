"""A published state to its file, and back."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from bitreplay import statefile
from bitreplay.arguments import path_of
from bitreplay.lifecycle.published import Published
from bitreplay.statefile import Content, Lock, Origin

T = TypeVar("T")


def save(
    published: Published, content: Callable[[], Content], path: str | Path, lock: Lock | None, overwrite: bool
) -> None:
    """Write the content, which is asked for while nothing changes."""
    file = path_of(path, "The state")

    def act() -> str:
        origin, remark = statefile.save(
            file, content(), published.snapshot.origin, lock, overwrite, begin=published.begin_at
        )
        published.begin_at(origin)
        return remark

    _warn(f"{path} is saved, but", published.unchanged_during(act))


def load(path: str | Path, micro_batch_size: int | None) -> tuple[Content, Origin]:
    """What a file holds; states do not keep the micro-batch size."""
    content, origin = statefile.load(path_of(path, "The state"))
    if micro_batch_size is not None:
        content = replace(content, settings=content.settings.changed(micro_batch_size=micro_batch_size))
    return content, origin


def rollback(path: str | Path, build: Callable[[Content], T], lock: Lock | None) -> tuple[T, Origin]:
    """What `build` makes of the revision before, which takes the last one's place in the file."""
    result, origin, remark = statefile.rollback(path_of(path, "The state"), build, lock)
    _warn(f"{path} is rolled back, but", remark)
    return result, origin


def _warn(done: str, remark: str) -> None:
    """A warning, not an error: it was done, and whoever tries again would do it twice."""
    if remark:
        warnings.warn(f"{done} {remark}.", statefile.StateFileWarning, stacklevel=4)
