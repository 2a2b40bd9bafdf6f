"""Where a data set lies: the path given, or one of its usual names in the folder BITREPLAY_DATA."""

import os
from collections.abc import Sequence
from pathlib import Path


def locate(title: str, path: str | Path | None, names: Sequence[str], source: str) -> Path:
    """The path of a data set; a missing one is an error that says where to get it."""
    get = f"get it from {source}"
    if path is not None:
        if Path(path).exists():
            return Path(path)
        raise FileNotFoundError(f"{title} is not at {path}: {get}.")
    root = os.environ.get("BITREPLAY_DATA")
    if not root:
        raise FileNotFoundError(f"{title} needs a path, or BITREPLAY_DATA set to the folder that holds it: {get}.")
    for name in names:
        if (Path(root) / name).exists():
            return Path(root) / name
    raise FileNotFoundError(f"{title} is not in {root} as {' or '.join(names)}: {get}.")
