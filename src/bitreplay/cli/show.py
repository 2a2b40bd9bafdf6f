"""What commands print: JSON, sentences and tables on stdout, progress and errors on stderr.

Labels and paths may contain brackets and colons, so nothing is parsed as Rich's markup or emoji, and control characters
are escaped. A result that cannot be written to stdout is an error.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from bitreplay.arguments import escaped
from bitreplay.cli.tables import Table
from bitreplay.learning.progress import Progress as Done

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

_quiet = False
TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE")  # variables by which a file is taken for one


class OutputError(ValueError):
    """stdout is full or closed."""


class Interrupted(Exception):
    """Ctrl-C ended a command."""

    def __init__(self, saves: bool) -> None:
        super().__init__("Stopped by Ctrl-C; nothing was saved." if saves else "Stopped by Ctrl-C.")


def as_json(value: Any) -> None:
    _write(json.dumps(value, allow_nan=False) + "\n")


def text(value: str) -> None:
    """Prints a text unchanged."""
    _write(value)


def say(*parts: str | Table) -> None:
    """Prints sentences and tables."""
    buffer = _Buffer(sys.stdout)
    plain = not buffer.isatty() and buffer.encoding.lower().startswith("utf") and not set(TERMINAL) & set(os.environ)
    drawn = [part.drawn(_width()) if plain and isinstance(part, Table) else None for part in parts]
    if None in drawn:
        console = _console(buffer)
        for part in parts:
            console.print(escaped(part) if isinstance(part, str) else _by_rich(part))
        drawn = [buffer.getvalue()]
    _write("".join(part for part in drawn if part is not None))


def _width() -> int:
    """Characters of a line, as Rich finds them."""
    if (columns := os.environ.get("COLUMNS", "")).isdigit():
        return int(columns)
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        with suppress(AttributeError, ValueError, OSError):
            return os.get_terminal_size(stream.fileno()).columns  # type: ignore[union-attr]
    return 80


def _console(file: TextIO) -> Console:
    from rich.console import Console

    return Console(file=file, markup=False, emoji=False, highlight=False)


def _by_rich(table: Table) -> Any:
    """Long cells are wrapped."""
    from rich.table import Table as RichTable
    from rich.text import Text

    result = RichTable(title=Text(table.title, style="bold"), title_justify="left")
    for number, column in enumerate(table.columns):
        result.add_column(Text(column), justify="left" if number < table.text else "right", overflow="fold")
    for row in table.rows:
        result.add_row(*map(Text, row))
    return result


class _Buffer(io.StringIO):
    """Collects output; it has the encoding and colours of the stream that will get it."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__()
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()


class _BestEffort(_Buffer):
    """Passes on what the stream accepts: a command does not fail because progress cannot be shown."""

    def write(self, text: str) -> int:
        if self._stream is not None:
            with suppress(OSError):
                self._stream.write(text)
                self._stream.flush()
        return len(text)


def _write(text: str) -> None:
    """Flushes at once: a buffer that cannot be written later would fail after the exit code is set."""
    if sys.stdout is None:
        raise OutputError("The result cannot be printed: stdout is closed.")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        real = sys.__stdout__
        if real is not None and sys.stdout is real:  # the interpreter flushes it once more at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), real.fileno())
        raise OutputError(f"The result cannot be printed: {error.strerror}.") from None


def error(sentence: object) -> None:
    """Prints a sentence on stderr, if that is open."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(escaped(sentence), file=sys.stderr, flush=True)


def skipped(reason: object) -> None:
    """Says that a file is skipped."""
    note(f"skipped: {reason}")


def note(sentence: object) -> None:
    """Prints a sentence on stderr unless the command is quiet."""
    if not _quiet:
        error(sentence)


def set_quiet(quiet: bool) -> None:
    """Sets whether the command that begins shows progress and notes."""
    global _quiet
    _quiet = quiet


def names(labels: Sequence[object]) -> str:
    return ", ".join(map(escaped, labels)) or "none"


def counted(count: int, one: str, many: str) -> str:
    """
    >>> counted(1, "picture", "pictures"), counted(0, "class is", "classes are")
    ('1 picture', '0 classes are')
    """
    return f"{count} {one if count == 1 else many}"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], text: int = 1) -> Table:
    """The first `text` columns are text, the others are figures."""
    cells = (tuple("\n".join(map(escaped, str(cell).split("\n"))) for cell in row) for row in rows)
    return Table(escaped(title), tuple(columns), tuple(cells), text)


def size(count: int) -> str:
    """
    >>> size(512), size(30_720), size(2_114_728)
    ('512 B', '30.0 KiB', '2.0 MiB')
    """
    if count < 1 << 10:
        return f"{count} B"
    return f"{count / 2**10:.1f} KiB" if count < 1 << 20 else f"{count / 2**20:.1f} MiB"


class Bar:
    """A progress bar, for `learn(progress=...)`."""

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
    hidden = quiet or _quiet or not _console(_BestEffort(sys.stderr)).is_terminal
    console = _console(_BestEffort(None if hidden else sys.stderr))  # rich ends a hidden bar with a line too
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        yield Bar(progress)
