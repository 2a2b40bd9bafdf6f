"""bitreplay data fetch NAME"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, show
from bitreplay.data.fetch import ARCHIVES, TIME_LIMIT
from bitreplay.data.fetch import fetch as download


def fetch(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(ARCHIVES)}.")],
    into: Annotated[Path | None, typer.Option(help="Folder; else the one that BITREPLAY_DATA names.")] = None,
    time_limit: Annotated[
        float, typer.Option(min=1, help="Seconds; then it is given up, and goes on from there when called again.")
    ] = TIME_LIMIT,
    json: options.Json = False,
) -> None:
    """Download the official archive, going on where it stopped, and check it."""
    if name not in ARCHIVES:
        raise ValueError(f"There is no archive of {name!r}; expected one of {', '.join(ARCHIVES)}.")
    root = into or (Path(os.environ["BITREPLAY_DATA"]) if os.environ.get("BITREPLAY_DATA") else None)
    if root is None:
        raise ValueError("Say where to put it: --into FOLDER, or set BITREPLAY_DATA.")
    with show.bar(quiet=json) as bar:
        path = download(ARCHIVES[name], root, lambda done, total: bar.part(name, done, total), time_limit)
    if json:
        show.as_json({"path": str(path), "bytes": path.stat().st_size, "md5": ARCHIVES[name].md5})
    else:
        show.say(f"{path} is complete; its md5 is the official one.")
