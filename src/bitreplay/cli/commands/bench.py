"""bitreplay bench: our speed and memory beside the peers'."""

from __future__ import annotations

from typing import Annotated

import typer

from bitreplay import bench as benchmark
from bitreplay.cli import options


def bench(
    json: options.Json = False,
    rounds: Annotated[int, typer.Option(help="Best of so many, from 1 on.")] = 20,
    only: Annotated[
        list[str] | None, typer.Option(help=f"A question, of {', '.join(benchmark.QUESTIONS)}; may be repeated.")
    ] = None,
) -> None:
    """Our speed and memory beside the peers', in one run on one thread; rows come as they are found.

    A peer that is not installed is named, and its columns stay empty.
    """
    raise typer.Exit(benchmark.main(json=json, rounds=rounds, only=only or ()))
