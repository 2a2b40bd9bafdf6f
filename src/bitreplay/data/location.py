"""Where a data set is: at a given path, or under one of its usual names in that folder or in BITREPLAY_DATA."""

import os
from collections.abc import Sequence
from pathlib import Path

from bitreplay.arguments import path_of


def locate(title: str, path: str | Path | None, names: Sequence[str], source: str, name: str) -> Path:
    """The path of a data set. The error for a missing one says where to get it; `name` is what `fetch` calls it."""
    get = how_to_get(source, name)
    if path is not None:
        start = path_of(path, f"The location of {title}")
        if not start.exists():
            raise FileNotFoundError(f"{title} is not at {start}: {get}.")
        return _inside(start, names) or start
    root = os.environ.get("BITREPLAY_DATA")
    if not root:
        raise FileNotFoundError(f"{title} needs a path, or BITREPLAY_DATA set to the folder that holds it: {get}.")
    location = _inside(Path(root), names)
    if location is None:
        raise FileNotFoundError(f"{title} is not in {root} as {' or '.join(names)}: {get}.")
    return location


def how_to_get(source: str, name: str) -> str:
    return f"get it from {source} or with `bitreplay data fetch {name}`"


def _inside(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).exists()), None)
