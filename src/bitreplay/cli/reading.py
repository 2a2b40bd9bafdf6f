"""Reads picture files at the model's size, and records which files of a folder were skipped and why.

They are read on other threads (data/pictures/ahead.py). `use` makes of some of them, read, what a command needs, while
the next are being read: their latents, or with `as_they_are` the pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from bitreplay.cli import show
from bitreplay.data.folder import SUFFIXES, describe_skipped, picture_files
from bitreplay.data.pictures import fitting
from bitreplay.data.pictures.ahead import ahead
from bitreplay.data.pictures.fitting import Tell
from bitreplay.data.pictures.picture import Unreadable, decode, read, web_address
from bitreplay.data.regular import MAX_BYTES
from bitreplay.learning.classes import checked_name

MAX_SHOWN = 20
USED_AT_ONCE = 8  # samples of a feature extractor's arena
Use = Callable[[NDArray[np.uint8]], NDArray]


def as_they_are(pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return pictures


class Used:
    """What `use` makes of pictures that are added one by one."""

    def __init__(self, use: Use) -> None:
        self._use = use
        self._made: list[NDArray] = []
        self._waiting: list[NDArray[np.uint8]] = []

    def add(self, picture: NDArray[np.uint8]) -> None:
        """A picture (1, side, side, 3)."""
        self._waiting.append(picture)
        if len(self._waiting) == USED_AT_ONCE:
            self._use_waiting()

    def _use_waiting(self) -> None:
        self._made.append(self._use(np.concatenate(self._waiting)))
        self._waiting.clear()

    def all(self) -> NDArray:
        """Of all pictures, in their order; there is at least one."""
        if self._waiting:
            self._use_waiting()
        return np.concatenate(self._made)


class SkippedFiles:
    """Says which files are not used and why; the first `MAX_SHOWN` appear on stderr at once.

    A file whose name is not that of a picture is always skipped. One that cannot be read raises unless `skip`.
    """

    def __init__(self, skip: bool) -> None:
        self.sentences: list[str] = []
        self.unreadable_count = 0
        self._skip = skip

    def unreadable(self, error: ValueError) -> None:
        if not self._skip:
            raise error
        self.unreadable_count += 1
        self.add([str(error)])

    def unreadable_among_others(self, error: ValueError) -> None:
        """In a folder: the error names the option that reads the others."""
        self.unreadable(ValueError(str(error) if self._skip else f"{error} --skip-unreadable skips it."))

    def add(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            self.sentences.append(sentence)
            if len(self.sentences) <= MAX_SHOWN:
                show.skipped(sentence)

    def end(self) -> None:
        """Says how many more there were."""
        if len(self.sentences) > MAX_SHOWN:
            show.skipped(f"{len(self.sentences) - MAX_SHOWN} more; --json lists all.")


def read_pictures(paths: Iterable[Path], side: int, unreadable: Unreadable) -> Iterator[tuple[Path, NDArray[np.uint8]]]:
    """Each file with its picture (1, side, side, 3). `unreadable` is called with the error of any other file, which is
    skipped if the call returns."""
    for path, picture in ahead(lambda path: fitted(path, side), paths):
        try:
            pixels = picture()
        except ValueError as error:
            unreadable(error)
        else:
            yield path, pixels


def fitted(path: Path, side: int) -> NDArray[np.uint8]:
    """The picture in a file, (1, side, side, 3)."""
    return fitting.fit_pictures(read(path, side), side)


def read_stream(
    stream: BinaryIO, title: str, side: int, unreadable: Unreadable
) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """The same for one picture from a stream."""
    try:
        content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"{title} has more than {MAX_BYTES} bytes.")
        picture = fitting.fit_pictures(decode(content, title, side), side)
    except ValueError as error:
        unreadable(error)
    else:
        yield title, picture


def read_labelled(
    folder: Path, label: str | None, side: int, skipped: SkippedFiles, report: Tell = lambda done, total: None,
    use: Use = as_they_are,
) -> tuple[NDArray, list[str], list[Path]]:  # fmt: skip
    """The pictures of a folder of class folders, or of a folder of one class, with their labels and files.

    A class folder without pictures counts as unreadable, so that no class is lost silently. `report` is called with the
    number of pictures read and of all.
    """
    if address := web_address(folder):
        raise ValueError(f"{address} is a web address, and only folders are read: download it first.")
    if not folder.is_dir():
        hint = "; --label NAME gives a single picture its class" if folder.is_file() else ""
        raise ValueError(f"{folder} is not a folder{hint}.")
    folders = [folder]
    if label is None:
        folders = class_folders(folder)
        if picture_files(folder) and not any(map(picture_files, folders)):
            raise _no_pictures(folder, label)  # instead of a line for each of its pictures
        skipped.add(describe_skipped(folder, of_classes=True))
        for subfolder in folders:
            checked_name(subfolder.name)  # before any picture is read
    used, labels, paths = Used(use), list[str](), list[Path]()
    files = {subfolder: picture_files(subfolder) for subfolder in folders}
    total = sum(map(len, files.values()))
    # Each folder goes before its files: what is to be said of it is said when its turn has come.
    order = chain.from_iterable((subfolder, *files[subfolder]) for subfolder in folders)
    for path, picture in ahead(lambda path: None if path in files else fitted(path, side), order):
        if path in files:
            skipped.add(describe_skipped(path))
            if not files[path] and label is None:
                error = ValueError(f"{path} is a class folder without pictures ({', '.join(SUFFIXES)}).")
                skipped.unreadable_among_others(error)
            continue
        try:
            pixels = picture()
        except ValueError as error:
            skipped.unreadable_among_others(error)
        else:
            assert pixels is not None
            used.add(pixels)
            labels.append(path.parent.name if label is None else label)
            paths.append(path)
            report(len(paths), total)
    if not paths:
        raise _no_pictures(folder, label)
    return used.all(), labels, paths


def _no_pictures(folder: Path, label: str | None) -> ValueError:
    expected = "readable pictures" if label is not None else "class folder with readable pictures"
    return ValueError(f"{folder} has no {expected} ({', '.join(SUFFIXES)}){_hint(folder, label)}.")


def class_folders(folder: Path) -> list[Path]:
    return sorted(
        subfolder for subfolder in folder.iterdir() if subfolder.is_dir() and not subfolder.name.startswith(".")
    )


def _hint(folder: Path, label: str | None) -> str:
    """The option that reads what the folder does have."""
    if label is None:
        return "; --label NAME gives the pictures in it their class" if picture_files(folder) else ""
    return "; without --label, its folders are classes" if any(map(picture_files, class_folders(folder))) else ""


def read_all(
    inputs: Sequence[Path], label: str | None, side: int, skipped: SkippedFiles,
    report: Tell = lambda done, total: None, use: Use = as_they_are,
) -> tuple[NDArray, list[str]]:  # fmt: skip
    """The pictures and labels of folders of class folders; with a label, of files and folders of pictures of that
    class."""
    parts, labels = list[NDArray](), list[str]()
    for one_class, run in groupby(inputs, lambda path: label is not None and path.is_file()):
        if not one_class:
            for path in run:
                batch, names, _ = read_labelled(path, label, side, skipped, report, use)
                parts.append(batch)
                labels += names
            continue
        used, before = Used(use), len(labels)
        for _, picture in read_pictures(run, side, skipped.unreadable):
            used.add(picture)
            labels.append(str(label))
            report(len(labels), len(inputs))
        if len(labels) > before:
            parts.append(used.all())
    if not parts:
        raise ValueError("There are no readable pictures.")
    return np.concatenate(parts), labels
