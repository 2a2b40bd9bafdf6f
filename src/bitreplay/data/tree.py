"""All pictures below a folder, however deep."""

import os
from pathlib import Path

from bitreplay.data.pictures.formats import SUFFIXES


def pictures_below(root: Path) -> tuple[list[Path], list[str]]:
    """The pictures, sorted folder by folder, and a sentence for each file or hidden folder that is not looked at.

    Links to folders are not followed, so that no circle is walked.
    """
    found: list[Path] = []
    others: list[str] = []
    for place, folders, files in os.walk(root):
        others += [f"{Path(place, name)} is hidden." for name in sorted(folders) if name.startswith(".")]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(place, name)
            if name.startswith("."):
                others.append(f"{path} is hidden.")
            elif path.suffix.lower() not in SUFFIXES:
                others.append(f"{path} is no picture by its suffix ({', '.join(SUFFIXES)}).")
            else:
                found.append(path)
    return found, others
