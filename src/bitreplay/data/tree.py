"""All pictures below a folder, however deep."""

import os
from pathlib import Path

from bitreplay.data.pictures.formats import SUFFIXES


def pictures_below(root: Path) -> tuple[list[Path], list[str]]:
    """The pictures, sorted folder by folder, and a sentence for each file or hidden folder that is skipped.

    Links to folders are not followed: they could form a loop.
    """
    paths: list[Path] = []
    skipped: list[str] = []
    for folder, folders, files in os.walk(root):
        skipped += [f"{Path(folder, name)} is hidden." for name in sorted(folders) if name.startswith(".")]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if name.startswith("."):
                skipped.append(f"{path} is hidden.")
            elif path.suffix.lower() not in SUFFIXES:
                skipped.append(f"{path} does not have the suffix of a picture ({', '.join(SUFFIXES)}).")
            else:
                paths.append(path)
    return paths, skipped
