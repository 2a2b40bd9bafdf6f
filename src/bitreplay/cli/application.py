"""The commands as one Typer application."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from bitreplay import __version__
from bitreplay.cli import COMMANDS, DATA_COMMANDS, FLEET_COMMANDS, show
from bitreplay.cli.common_options import common_options

HELP = "Continual learning on small devices with binary and 8-bit neural networks, in integer arithmetic."


def application_for(arguments: Sequence[str]) -> typer.Typer:
    """All commands, or the one that the first argument names: loading the modules of all takes time."""
    application = typer.Typer(
        no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None, help=HELP,
        callback=_root, invoke_without_command=False,
    )  # fmt: skip
    first = arguments[0] if arguments else ""
    for name in (first,) if first in COMMANDS else COMMANDS:
        _add(application, name, name)
    if first not in COMMANDS:
        data = typer.Typer(no_args_is_help=True, help="Data sets.")
        data.callback()(_data)
        for name in DATA_COMMANDS:
            _add(data, name, name)
        application.add_typer(data, name="data")
        fleet = typer.Typer(no_args_is_help=True, help="Devices that learn together.")
        fleet.callback()(_fleet)
        for name in FLEET_COMMANDS:
            _add(fleet, "fleet", name)
        application.add_typer(fleet, name="fleet")
    return application


def _add(application: typer.Typer, file: str, name: str) -> None:
    """Adds the function of that name from a module of the commands. The list of commands shows its first paragraph
    uncut."""
    module = import_module(f"bitreplay.cli.commands.{file}")
    command = getattr(module, name)
    options: dict[str, Any] = getattr(module, "CONTEXT", {})
    short = " ".join((command.__doc__ or "").split("\n\n")[0].split())
    application.command(short_help=short, context_settings=options)(command if options else common_options(command))


def _print_version(requested: bool) -> None:
    if requested:
        show.say(f"bitreplay {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None: ...


_root.__doc__ = HELP


def _data() -> None:
    """Data sets."""


def _fleet() -> None:
    """Devices that learn together."""
