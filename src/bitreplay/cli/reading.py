"""Reads picture files at the model's size, one at a time, and records which files of a folder were skipped and why."""

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
from bitreplay.data.pictures.picture import Unreadable, decode, read, web_address
from bitreplay.data.regular import MAX_BYTES
from bitreplay.learning.classes import checked_name

MAX_SHOWN = 20


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
    for path in paths:
        try:
            picture = fitting.fit_pictures(read(path, side), side)
        except ValueError as error:
            unreadable(error)
        else:
            yield path, picture


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
    folder: Path, label: str | None, side: int, skipped: SkippedFiles, report: Tell = lambda done, total: None
) -> tuple[NDArray[np.uint8], list[str], list[Path]]:
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
    images: list[NDArray[np.uint8]] = []
    labels: list[str] = []
    paths: list[Path] = []
    total = sum(len(picture_files(subfolder)) for subfolder in folders)
    for subfolder in folders:
        skipped.add(describe_skipped(subfolder))
        files = picture_files(subfolder)
        if not files and label is None:
            error = ValueError(f"{subfolder} is a class folder without pictures ({', '.join(SUFFIXES)}).")
            skipped.unreadable_among_others(error)
        for path, picture in read_pictures(files, side, skipped.unreadable_among_others):
            images.append(picture)
            labels.append(subfolder.name if label is None else label)
            paths.append(path)
            report(len(paths), total)
    if not images:
        raise _no_pictures(folder, label)
    return np.concatenate(images), labels, paths


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
    inputs: Sequence[Path], label: str | None, side: int, skipped: SkippedFiles, report: Tell = lambda done, total: None
) -> tuple[NDArray[np.uint8], list[str]]:
    """The pictures and labels of folders of class folders; with a label, of files and folders of pictures of that
    class."""
    images: list[NDArray[np.uint8]] = []
    labels: list[str] = []
    for path in inputs:
        if label is None or not path.is_file():
            batch, names, _ = read_labelled(path, label, side, skipped, report)
            images.append(batch)
            labels += names
        else:
            for _, picture in read_pictures([path], side, skipped.unreadable):
                images.append(picture)
                labels.append(label)
            report(len(labels), len(inputs))
    if not images:
        raise ValueError("There are no readable pictures.")
    return np.concatenate(images), labels
