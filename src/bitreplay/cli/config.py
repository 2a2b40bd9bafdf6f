"""Options of a command from a TOML file: `data = "photos"`, `memory-per-class = 30`. The command line overrides
them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay.arguments import short_repr
from bitreplay.data.regular import read_bytes

MAX_BYTES = 1 << 20
EXCLUDED = ("config_file", "help")


def _apply(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the file's values the defaults."""
    if path is None:
        return None
    known = [name for part in context.command.params if (name := part.name) is not None and name not in EXCLUDED]
    values: dict[str, Any] = {}
    for key, value in _read(path).items():
        name = key.replace("-", "_")
        if name not in known:
            options = ", ".join(option.replace("_", "-") for option in known)
            raise ValueError(f"{path} has {short_repr(key)}, which is not an option of this command ({options}).")
        if not isinstance(value, str | int | float):
            raise ValueError(f"{key} in {path} must be text, a number, true or false, got {short_repr(value)}.")
        values[name] = value if isinstance(value, bool) else str(value)
    context.default_map = {**(context.default_map or {}), **values}
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="TOML file of these options, such as memory-per-class = 30; the command line overrides it.",
        is_eager=True, callback=_apply, show_default="none",
    ),
]  # fmt: skip


def _read(path: Path) -> dict[str, Any]:
    reader = _reader()
    try:
        return reader.loads(read_bytes(path, MAX_BYTES).decode("utf-8"))
    except FileNotFoundError:
        raise ValueError(f"There is no file {path}.") from None
    except ValueError as error:  # invalid UTF-8 or TOML, or not a regular file
        raise ValueError(f"{path} cannot be read as TOML: {' '.join(str(error).split()).rstrip('.')}.") from None


def _reader() -> Any:
    """tomllib, which Python has from 3.11 on, or tomli."""
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise ValueError("--config needs Python 3.11 or the package tomli: pip install tomli.")
