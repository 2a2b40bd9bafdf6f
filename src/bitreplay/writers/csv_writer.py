"""Writes one row of CSV per step, which is in the file when the step is done."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from types import TracebackType

from bitreplay.arguments import path_of
from bitreplay.streams.follow import Step
from bitreplay.writers.figures import figures


class CsvWriter:
    """Writes the experience's number and `figures` of each step to a CSV file.

    Parameters
    ----------
    path : str or Path
        A new file, or one with the same columns, to which rows are appended.

    Raises
    ------
    ValueError
        When a step is written to a file with other columns.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from bitreplay import Learner, follow
    >>> images, labels = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)]), ["dark", "light"]
    >>> with TemporaryDirectory() as folder, CsvWriter(f"{folder}/rows.csv") as writer:
    ...     steps = follow(Learner.from_pretrained("react_tiny"), [(images, labels)], images, labels, metrics=[writer])
    ...     n_steps = len(list(steps))
    ...     writer.path.read_text().splitlines()[0]
    'experience,accuracy,seen_accuracy,pictures,seconds,class/dark,class/light'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path_of(path, "A CSV file")

    def __call__(self, step: Step) -> None:
        row = figures(step)
        header = _line(["experience", *row])
        with open(self.path, "a+", encoding="utf-8", newline="") as file:
            file.seek(0)
            first = file.readline()
            if first and first != header:
                raise ValueError(f"{self.path} has other columns than these figures; choose another file.")
            file.write(("" if first else header) + _line([step.number, *row.values()]))

    def __enter__(self) -> CsvWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def _line(cells: list) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
