"""Where a data set lies: at the path given, or under one of its usual names in that folder or in BITREPLAY_DATA."""

import os
from collections.abc import Sequence
from pathlib import Path

from bitreplay.arguments import path_of


def locate(title: str, path: str | Path | None, names: Sequence[str], source: str, name: str) -> Path:
    """The path of a data set; a missing one is an error that says where to get it. `name` is what `fetch` calls it."""
    get = to_get(source, name)
    if path is not None:
        given = path_of(path, f"The place of {title}")
        if not given.exists():
            raise FileNotFoundError(f"{title} is not at {given}: {get}.")
        return _inside(given, names) or given
    root = os.environ.get("BITREPLAY_DATA")
    if not root:
        raise FileNotFoundError(f"{title} needs a path, or BITREPLAY_DATA set to the folder that holds it: {get}.")
    found = _inside(Path(root), names)
    if found is None:
        raise FileNotFoundError(f"{title} is not in {root} as {' or '.join(names)}: {get}.")
    return found


def to_get(source: str, name: str) -> str:
    return f"get it from {source} or with `bitreplay data fetch {name}`"


def _inside(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).exists()), None)
