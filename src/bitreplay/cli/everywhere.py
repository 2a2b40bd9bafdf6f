"""Options that every command has: --quiet and --threads. What they say holds before the command begins."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from bitreplay.cli import show

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks: the answer, and errors.")]
Threads = Annotated[
    int | None,
    typer.Option(min=1, max=64, help="Threads of the network.", show_default="BITREPLAY_THREADS, or 1"),
]


def everywhere(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options behind its own."""

    @functools.wraps(command)
    def called(*, quiet: bool, threads: int | None, **own: Any) -> None:
        show.hush(quiet)
        if threads is not None:
            os.environ["BITREPLAY_THREADS"] = str(threads)
        command(**own)

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
