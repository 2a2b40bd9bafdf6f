"""Picture files to pictures of the model's size, one at a time; and what of a folder was left out, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay.cli import show
from bitreplay.data.pictures import fitting
from bitreplay.data.pictures.picture import Unreadable, read

SHOWN = 20


class LeftOut:
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

    def passed_over(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            self.sentences.append(sentence)
            if len(self.sentences) <= SHOWN:
                show.left_out(ValueError(sentence))

    def end(self) -> None:
        """Say how many more there were."""
        if len(self.sentences) > SHOWN:
            show.left_out(ValueError(f"{len(self.sentences) - SHOWN} more; --json names all."))


def fitted(paths: Iterable[Path], side: int, unreadable: Unreadable) -> Iterator[tuple[Path, NDArray[np.uint8]]]:
    """Each file with its picture (1, side, side, 3). `unreadable` is told of the others; if it returns, they are left
    out."""
    for path in paths:
        try:
            picture = fitting.pictures(read(path, side), side)
        except ValueError as error:
            unreadable(error)
        else:
            yield path, picture
