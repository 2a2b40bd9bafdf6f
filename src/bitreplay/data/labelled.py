"""A folder of class folders as what a learner learns: files and their classes."""

from pathlib import Path

from bitreplay.arguments import path_of
from bitreplay.data.folder import SUFFIXES, pictures


def labelled(folder: str | Path) -> tuple[list[Path], list[str]]:
    """The pictures in each folder of `folder`, as paths, and the names of their folders, as `bitreplay learn` does.

    learner.learn(*labelled("new-fruit")) reads them one at a time. A class folder without pictures is refused.
    """
    root = path_of(folder, "A folder of class folders")
    if not root.is_dir():
        raise FileNotFoundError(f"{root} is not a folder: expected one folder a class in it.")
    paths: list[Path] = []
    labels: list[str] = []
    for place in sorted(place for place in root.iterdir() if place.is_dir() and not place.name.startswith(".")):
        files = pictures(place)
        if not files:
            raise ValueError(f"{place} is a class folder without pictures ({', '.join(SUFFIXES)}).")
        paths += files
        labels += [place.name] * len(files)
    if not paths:
        raise ValueError(f"{root} has no class folder with pictures ({', '.join(SUFFIXES)}).")
    return paths, labels
