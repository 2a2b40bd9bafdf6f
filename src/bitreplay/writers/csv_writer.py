"""A row of CSV for each step; on disk when the step is done."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from types import TracebackType

from bitreplay.arguments import path_of
from bitreplay.streams.follow import Step
from bitreplay.writers.figures import figures


class CsvWriter:
    """Begins a file, or goes on with one that has the same columns: the experience's number and `figures`."""

    def __init__(self, path: str | Path) -> None:
        self.path = path_of(path, "A CSV file")

    def __call__(self, step: Step) -> None:
        found = figures(step)
        header = _line(["experience", *found])
        with open(self.path, "a+", encoding="utf-8", newline="") as file:
            file.seek(0)
            first = file.readline()
            if first and first != header:
                raise ValueError(f"{self.path} has other columns than these figures; name another file.")
            file.write(("" if first else header) + _line([step.number, *found.values()]))

    def __enter__(self) -> CsvWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def _line(cells: list) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
