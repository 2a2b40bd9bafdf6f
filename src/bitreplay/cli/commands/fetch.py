"""bitreplay data fetch NAME: download a data set."""

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
    into: Annotated[Path | None, typer.Option(help="Folder to put it in.", show_default="BITREPLAY_DATA")] = None,
    time_limit: Annotated[float, typer.Option(min=1, help="Seconds; a later call continues from there.")] = TIME_LIMIT,
    json: options.Json = False,
) -> None:
    """Download the official archive, or the rest of it, and check it."""
    if name not in ARCHIVES:
        raise ValueError(f"There is no archive of {name!r}; expected one of {', '.join(ARCHIVES)}.")
    root = into or (Path(os.environ["BITREPLAY_DATA"]) if os.environ.get("BITREPLAY_DATA") else None)
    if root is None:
        raise ValueError("No folder to put it in: use --into FOLDER or set BITREPLAY_DATA.")
    with show.bar(quiet=json) as bar:
        path = download(ARCHIVES[name], root, lambda done, total: bar.part(name, done, total), time_limit)
    if json:
        show.as_json({"path": str(path), "bytes": path.stat().st_size, "md5": ARCHIVES[name].md5})
    else:
        show.say(f"{path} is complete; its md5 is the official one.")
