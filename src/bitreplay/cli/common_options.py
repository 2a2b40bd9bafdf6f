"""Options that every command has: --quiet and --threads. They apply before the command begins.

By default `learn` and `demo` use the available cores, up to MAX_DEFAULT_THREADS, and the other commands one. Results
do not depend on the number of threads.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from bitreplay.cli import show
from bitreplay.core import cores

MAX_DEFAULT_THREADS = 4
MULTITHREADED = ("demo", "learn")
SAVING_COMMANDS = ("learn", "unlearn", "merge", "forget", "rename")  # they save at the end or not at all

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result and errors only, no progress.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=64,
        help="Threads that run the network.",
        show_default="BITREPLAY_THREADS or 1; for learn and demo, all cores up to 4",
    ),
]


@contextmanager
def threads_of(command: str, threads: int | None) -> Iterator[None]:
    """Sets BITREPLAY_THREADS while a command runs."""
    before = os.environ.get("BITREPLAY_THREADS")
    if threads is None and not before and command in MULTITHREADED:
        threads = min(cores.usable(), MAX_DEFAULT_THREADS)
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
    """The command with these options after its own."""

    @functools.wraps(command)
    def wrapper(*, quiet: bool, threads: int | None, **arguments: Any) -> None:
        show.set_quiet(quiet)
        try:
            with threads_of(command.__name__, threads):
                command(**arguments)
        except KeyboardInterrupt:  # Typer exits silently from 0.29 on
            raise show.Interrupted(command.__name__ in SAVING_COMMANDS) from None

    # Not get_type_hints: in Python 3.10 it wraps what defaults to None once more, and typer then misses its options.
    signature = inspect.signature(command, eval_str=True)
    kinds = {"quiet": (Quiet, False), "threads": (Threads, None)}
    common = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in kinds.items()
    ]
    parameters = [*signature.parameters.values(), *common]
    wrapper.__signature__ = signature.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del wrapper.__wrapped__
    return wrapper
