"""The commands as one application of typer, which reads their options, helps and completes words."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from bitreplay import __version__
from bitreplay.cli import COMMANDS, OF_DATA, show
from bitreplay.cli.common_options import common_options

HELP = "Continual learning on small devices with binary neural networks, in whole numbers."


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
    made.command(short_help=short, context_settings=options)(command if options else common_options(command))


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
