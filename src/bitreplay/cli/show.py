"""What commands print: JSON or a table on stdout, progress on stderr.

Names of classes and paths may hold brackets and colons, so nothing is read as rich's markup or emoji.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from bitreplay.watch import Progress as Done


def as_json(value: Any) -> None:
    print(json.dumps(value, allow_nan=False))


def left_out(error: ValueError) -> None:
    """A picture that is skipped as the user chose."""
    print(f"left out: {error}", file=sys.stderr)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """The first column is text, the others are figures."""
    made = Table(title=Text(title, style="bold"), title_justify="left")
    for number, column in enumerate(columns):
        made.add_column(Text(column), justify="right" if number else "left")
    for row in rows:
        made.add_row(*(Text(str(cell)) for cell in row))
    return made


def size(count: int) -> str:
    """
    >>> size(512), size(30_720), size(2_114_728)
    ('512 B', '30.0 KiB', '2.0 MiB')
    """
    if count < 1 << 10:
        return f"{count} B"
    return f"{count / 2**10:.1f} KiB" if count < 1 << 20 else f"{count / 2**20:.1f} MiB"


def out() -> Console:
    return Console(markup=False, emoji=False, highlight=False)


class Bar:
    """A line that says what is going on, for `learn(progress=...)`."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None)

    def part(self, text: str, done: int, total: int) -> None:
        self._progress.update(self._task, description=text, completed=done, total=total)

    def __call__(self, done: Done) -> None:
        self.part("learning" if done.part == "steps" else done.part, done.done, done.total)


@contextmanager
def bar(quiet: bool = False) -> Iterator[Bar]:
    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as progress:
        yield Bar(progress)
