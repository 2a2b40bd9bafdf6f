"""What commands print: JSON, sentences and tables on stdout, progress and complaints on stderr.

Names of classes and paths may hold brackets and colons, so nothing is read as rich's markup or emoji; and control
characters, which are escaped. An answer that stdout does not take is an error of its own.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bitreplay.arguments import escaped
from bitreplay.learning.progress import Progress as Done

if TYPE_CHECKING:
    from rich.progress import Progress

_hushed = False


class Unprinted(ValueError):
    """stdout is full, closed, or nobody reads it."""


class Interrupted(Exception):
    """Ctrl-C ended a command before its end."""

    def __init__(self, of_states: bool) -> None:
        super().__init__("Stopped by Ctrl-C; nothing was saved." if of_states else "Stopped by Ctrl-C.")


def as_json(value: Any) -> None:
    _write(json.dumps(value, allow_nan=False) + "\n")


def text(value: str) -> None:
    """As it is."""
    _write(value)


def say(*parts: str | Table) -> None:
    """Sentences and tables."""
    held = _Held(sys.stdout)
    console = Console(file=held, markup=False, emoji=False, highlight=False)
    for part in parts:
        console.print(escaped(part) if isinstance(part, str) else part)
    _write(held.getvalue())


class _Held(io.StringIO):
    """Keeps what is printed; it looks like the stream that will get it, so that colours and frames fit."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__()
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()


class _Tried(_Held):
    """Passes on what the stream takes: nothing is left undone because progress cannot be shown."""

    def write(self, text: str) -> int:
        if self._stream is not None:
            with suppress(OSError):
                self._stream.write(text)
                self._stream.flush()
        return len(text)


def _write(text: str) -> None:
    """All of it and now: what waits in a buffer fails when the command has given its exit code."""
    if sys.stdout is None:
        raise Unprinted("The answer cannot be printed: stdout is closed.")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        real = sys.__stdout__
        if real is not None and sys.stdout is real:  # the interpreter flushes it once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), real.fileno())
        raise Unprinted(f"The answer cannot be printed: {error.strerror}.") from None


def complain(sentence: object) -> None:
    """On stderr, if it takes anything."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(escaped(sentence), file=sys.stderr, flush=True)


def skipped(error: ValueError) -> None:
    """A picture that is skipped as the user chose."""
    remark(f"left out: {error}")


def remark(sentence: object) -> None:
    """What is good to know while a command works."""
    if not _hushed:
        complain(sentence)


def hush(quiet: bool) -> None:
    """Whether the command that begins shows progress and remarks."""
    global _hushed
    _hushed = quiet


def names(found: Sequence[object]) -> str:
    return ", ".join(map(escaped, found)) or "none"


def counted(count: int, one: str, many: str) -> str:
    """
    >>> counted(1, "picture", "pictures"), counted(0, "class is", "classes are")
    ('1 picture', '0 classes are')
    """
    return f"{count} {one if count == 1 else many}"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], text: int = 1) -> Table:
    """The first column, or the first `text`, are text, the others are figures. What is too long goes on in the next
    line."""
    made = Table(title=Text(escaped(title), style="bold"), title_justify="left")
    for number, column in enumerate(columns):
        made.add_column(Text(column), justify="left" if number < text else "right", overflow="fold")
    for row in rows:
        made.add_row(*(Text("\n".join(map(escaped, str(cell).split("\n")))) for cell in row))
    return made


def size(count: int) -> str:
    """
    >>> size(512), size(30_720), size(2_114_728)
    ('512 B', '30.0 KiB', '2.0 MiB')
    """
    if count < 1 << 10:
        return f"{count} B"
    return f"{count / 2**10:.1f} KiB" if count < 1 << 20 else f"{count / 2**20:.1f} MiB"


class Bar:
    """A line that says what is going on, for `learn(progress=...)`."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None)

    def part(self, text: str, done: int, total: int) -> None:
        self._progress.update(self._task, description=text, completed=done, total=total or None)

    def reading(self, done: int, total: int) -> None:
        self.part("reading", done, total)

    def __call__(self, done: Done) -> None:
        self.part("learning" if done.part == "steps" else done.part, done.done, done.total)


@contextmanager
def bar(quiet: bool = False) -> Iterator[Bar]:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    hidden = quiet or _hushed or not Console(file=_Tried(sys.stderr)).is_terminal
    console = Console(file=_Tried(None if hidden else sys.stderr))  # rich ends a hidden bar with a line too
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        yield Bar(progress)
