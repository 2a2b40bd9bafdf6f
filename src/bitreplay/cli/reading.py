"""Picture files to pictures of the model's size, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay import door
from bitreplay.data.picture import Unreadable, read


def fitted(paths: Iterable[Path], side: int, unreadable: Unreadable) -> Iterator[tuple[Path, NDArray[np.uint8]]]:
    """Each file with its picture (1, side, side, 3). `unreadable` is told of the others; if it returns, they are left
    out."""
    for path in paths:
        try:
            picture = door.pictures(read(path, side), side)
        except ValueError as error:
            unreadable(error)
        else:
            yield path, picture
