"""Picture files to pictures of the model's size, one at a time; and what of a folder was left out, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from bitreplay.cli import show
from bitreplay.data.folder import SUFFIXES, describe_skipped, picture_files
from bitreplay.data.pictures import fitting
from bitreplay.data.pictures.fitting import Tell
from bitreplay.data.pictures.picture import Unreadable, decode, read
from bitreplay.data.regular import MAX_BYTES
from bitreplay.learning.classes import checked_name

SHOWN = 20


class SkippedFiles:
    """Sentences about files that are not used; the first `SHOWN` appear on stderr as they are found.

    A file that is no picture by its name is always left out. One that cannot be read is refused unless `skip`.
    """

    def __init__(self, skip: bool) -> None:
        self.sentences: list[str] = []
        self.unread = 0
        self._skip = skip

    def unreadable(self, error: ValueError) -> None:
        if not self._skip:
            raise error
        self.unread += 1
        self.passed_over([str(error)])

    def unreadable_among_others(self, error: ValueError) -> None:
        """Of a folder: the sentence names the option that takes the others."""
        self.unreadable(ValueError(str(error) if self._skip else f"{error} --skip-unreadable leaves it out."))

    def passed_over(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            self.sentences.append(sentence)
            if len(self.sentences) <= SHOWN:
                show.skipped(ValueError(sentence))

    def end(self) -> None:
        """Say how many more there were."""
        if len(self.sentences) > SHOWN:
            show.skipped(ValueError(f"{len(self.sentences) - SHOWN} more; --json names all."))


def fitted(paths: Iterable[Path], side: int, unreadable: Unreadable) -> Iterator[tuple[Path, NDArray[np.uint8]]]:
    """Each file with its picture (1, side, side, 3). `unreadable` is told of the others; if it returns, they are left
    out."""
    for path in paths:
        try:
            picture = fitting.fit_pictures(read(path, side), side)
        except ValueError as error:
            unreadable(error)
        else:
            yield path, picture


def fitted_bytes(
    stream: BinaryIO, title: str, side: int, unreadable: Unreadable
) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """The same of one picture whose bytes come through a stream."""
    try:
        content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"{title} has more than {MAX_BYTES} bytes.")
        picture = fitting.fit_pictures(decode(content, title, side), side)
    except ValueError as error:
        unreadable(error)
    else:
        yield title, picture


def labelled(
    folder: Path, label: str | None, side: int, skipped: SkippedFiles, tell: Tell = lambda done, total: None
) -> tuple[NDArray[np.uint8], list[str], list[Path]]:
    """Pictures of a folder of class folders, or of one class, already fitted; their labels and their files.

    A class folder without pictures counts as one that could not be read, so that no class is lost without a word.
    `tell` hears how many were read, of how many.
    """
    if not folder.is_dir():
        wanted = "; --label NAME learns a picture as that class" if folder.is_file() else ""
        raise ValueError(f"{folder} is not a folder{wanted}.")
    places = [folder]
    if label is None:
        skipped.passed_over(describe_skipped(folder, of_classes=True))
        places = class_folders(folder)
        for place in places:
            checked_name(place.name)  # before any picture is read
    found: list[NDArray[np.uint8]] = []
    labels: list[str] = []
    paths: list[Path] = []
    total = sum(len(picture_files(place)) for place in places)
    for place in places:
        skipped.passed_over(describe_skipped(place))
        files = picture_files(place)
        if not files and label is None:
            empty = f"{place} is a class folder without pictures ({', '.join(SUFFIXES)})."
            skipped.unreadable_among_others(ValueError(empty))
        for path, picture in fitted(files, side, skipped.unreadable_among_others):
            found.append(picture)
            labels.append(place.name if label is None else label)
            paths.append(path)
            tell(len(paths), total)
    if not found:
        wanted = "pictures" if label is not None else "class folder with pictures"
        suffixes = ", ".join(SUFFIXES)
        raise ValueError(f"{folder} has no {wanted} that can be read ({suffixes}){_instead(folder, label)}.")
    return np.concatenate(found), labels, paths


def class_folders(folder: Path) -> list[Path]:
    return sorted(place for place in folder.iterdir() if place.is_dir() and not place.name.startswith("."))


def _instead(folder: Path, label: str | None) -> str:
    """Which option takes what lies in a folder of which nothing could be read."""
    if label is None:
        return "; for its own pictures name their class with --label" if picture_files(folder) else ""
    return "; without --label its folders are classes" if any(map(picture_files, class_folders(folder))) else ""


def gathered(
    places: Sequence[Path], label: str | None, side: int, skipped: SkippedFiles, tell: Tell = lambda done, total: None
) -> tuple[NDArray[np.uint8], list[str]]:
    """Pictures of folders of class folders; or, of one class, of files and of folders of pictures. And their labels."""
    found: list[NDArray[np.uint8]] = []
    labels: list[str] = []
    for place in places:
        if label is None or not place.is_file():
            images, names, _ = labelled(place, label, side, skipped, tell)
            found.append(images)
            labels += names
        else:
            one = [picture for _, picture in fitted([place], side, skipped.unreadable)]
            found += one
            labels += [label] * len(one)
            tell(len(labels), len(places))
    if not found:
        raise ValueError("There are no pictures that can be read.")
    return np.concatenate(found), labels
