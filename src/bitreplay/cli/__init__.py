"""The command line: one file a command (commands/). They parse, call the library and show what it says.

Exit codes: 0 done (saved, also where the answer could not be printed), 1 a file, picture, state or setting was refused
(one sentence says why), 2 the command line is wrong, 3 the state is in use by another process, 4 stopped by the time
limit, 130 stopped by Ctrl-C. With all but 0 the state is the old one.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from bitreplay import __version__
from bitreplay.cli import show
from bitreplay.cli.everywhere import everywhere
from bitreplay.progress import LearningStopped
from bitreplay.statefile import StateInUse

REFUSED, IN_USE, STOPPED = 1, 3, 4
COMMANDS = (
    "demo", "run", "learn", "predict", "evaluate", "confusions", "unlearn", "merge", "forget", "rename", "rollback",
    "info", "models", "plan", "export", "pretrain", "convert", "bench", "reproduce",
)  # fmt: skip
OF_DATA = ("fetch",)
HELP = "Continual learning on small devices with binary neural networks, in whole numbers."


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the encoding does not have is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        app_for(sys.argv[1:])(prog_name="bitreplay")
    except StateInUse as error:
        _end(IN_USE, error)
    except LearningStopped as error:
        _end(STOPPED, error)
    except (ValueError, OSError, FloatingPointError) as error:
        _end(REFUSED, error)


def app_for(words: Sequence[str]) -> typer.Typer:
    """All commands, or the one that the first word names: each loads modules of its own, and that takes time."""
    made = typer.Typer(
        no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None, help=HELP,
        callback=_itself, invoke_without_command=False,
    )  # fmt: skip
    first = words[0] if words else ""
    for name in (first,) if first in COMMANDS else COMMANDS:
        _add(made, name)
    if first not in COMMANDS:
        data = typer.Typer(no_args_is_help=True, help="Data sets.")
        data.callback()(_data)
        for name in OF_DATA:
            _add(data, name)
        made.add_typer(data, name="data")
    return made


def _add(made: typer.Typer, name: str) -> None:
    """The function of that name in the module of that name. Its first paragraph is whole in the list of commands."""
    module = import_module(f"bitreplay.cli.commands.{name}")
    command = getattr(module, name)
    options: dict[str, Any] = getattr(module, "CONTEXT", {})
    short = " ".join((command.__doc__ or "").split("\n\n")[0].split())
    made.command(short_help=short, context_settings=options)(command if options else everywhere(command))


def _say_version(wanted: bool) -> None:
    if wanted:
        show.say(f"bitreplay {__version__}")
        raise typer.Exit


def _itself(
    version: Annotated[
        bool, typer.Option("--version", help="Say the version and exit.", callback=_say_version, is_eager=True)
    ] = False,
) -> None: ...


_itself.__doc__ = HELP


def _data() -> None:
    """Data sets."""


def _end(code: int, error: Exception) -> None:
    show.complain(str(error) or type(error).__name__)
    sys.exit(code)
