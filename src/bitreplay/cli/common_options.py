"""Options that every command has: --quiet and --threads. What they say holds before the command begins.

`learn` takes the cores that it may use, at most MOST_BY_ITSELF, unless it is told otherwise; the others take one. The
number of threads changes no bit.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, get_type_hints

import typer

from bitreplay.cli import show
from bitreplay.engine import cores

MAX_BY_ITSELF = 4
BY_THEMSELVES = ("learn",)
OF_STATES = ("learn", "unlearn", "merge", "forget", "rename")  # they save at their end, or not at all

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks: the answer, and errors.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=64,
        help="Threads of the network.",
        show_default="BITREPLAY_THREADS, or 1; to learn: the cores, at most 4",
    ),
]


@contextmanager
def threads_of(command: str, threads: int | None) -> Iterator[None]:
    """BITREPLAY_THREADS while a command runs."""
    before = os.environ.get("BITREPLAY_THREADS")
    if threads is None and not before and command in BY_THEMSELVES:
        threads = min(cores.usable(), MAX_BY_ITSELF)
    if threads is None:
        yield
        return
    os.environ["BITREPLAY_THREADS"] = str(threads)
    try:
        yield
    finally:
        os.environ.pop("BITREPLAY_THREADS")
        if before is not None:
            os.environ["BITREPLAY_THREADS"] = before


def common_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options behind its own."""

    @functools.wraps(command)
    def called(*, quiet: bool, threads: int | None, **own: Any) -> None:
        show.hush(quiet)
        try:
            with threads_of(command.__name__, threads):
                command(**own)
        except KeyboardInterrupt:  # typer's own end of it, from 0.29 on, says nothing
            raise show.Interrupted(command.__name__ in OF_STATES) from None

    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command)
    kinds = {"quiet": (Quiet, False), "threads": (Threads, None)}
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in kinds.items()
    ]
    parameters = [part.replace(annotation=hints[name]) for name, part in own.parameters.items()]
    called.__signature__ = own.replace(parameters=[*parameters, *more], return_annotation=None)  # type: ignore[attr-defined]
    called.__annotations__ = hints | {name: kind for name, (kind, _) in kinds.items()}
    del called.__wrapped__
    return called
