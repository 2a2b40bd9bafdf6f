"""bitreplay merge A B ... --out C: add up the states of many devices."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from bitreplay import statefile
from bitreplay.cli import options, saving, show
from bitreplay.lifecycle.merging import MergedTwice, Total
from bitreplay.statefile import Content, Lock, Origin
from bitreplay.strategies import STRATEGIES


def merge(
    states: Annotated[list[Path], typer.Argument(help="State files of the strategy exact.", show_default=False)],
    out: Annotated[Path, typer.Option(help="File of the merged state.", show_default=False)],
    base: Annotated[
        Path | None, typer.Option(help="The state that all of them began with; its pictures count once.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="OLD=NEW; classes that get the same name become one. May be repeated.")
    ] = None,
    without: Annotated[
        list[Path] | None,
        typer.Option(help="A state to remove that was merged into these before. May be repeated."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    json: options.Json = False,
) -> None:
    """Merge states (strategy exact) into that of a device that learned all their pictures; needs no model."""
    with Lock(out) as lock:
        if out.exists() and not overwrite:
            raise ValueError(f"{out} exists; --overwrite replaces it.")
        messages: list[str] = []
        with warnings.catch_warnings(record=True) as caught, show.bar(quiet=json) as bar:
            warnings.simplefilter("always", MergedTwice)
            total = Total(None if base is None else statefile.load(base)[0], _table(rename or []))
            for number, path in enumerate(states):
                bar.part("merging", number, len(states))
                total.add(statefile.load(path)[0], str(path))
            for path in without or []:
                total.take_out(statefile.load(path)[0], str(path))
            content = total.content()
            messages += [str(warning.message) for warning in caught]
        with saving.uninterrupted():
            origin = Origin().without_past() if without else Origin()
            _, note = statefile.save(out, content, origin, lock, overwrite)
    with saving.reporting(f"{out} is saved."):
        for sentence in (*messages, *([f"{out} is saved, but {note}"] if note else [])):
            show.error(f"warning: {sentence}")
        _print_result(out, content, len(states), messages, json)


def _print_result(out: Path, content: Content, states: int, messages: list[str], json: bool) -> None:
    state, kind = content.state, STRATEGIES[content.settings.strategy]
    pictures = kind.pictures(state)
    if json:
        show.as_json({"state": str(out), "states": states, "pictures": pictures, "classes": list(state.names),
                      "warnings": messages, "hash": state.hash()})  # fmt: skip
        return
    show.say(
        f"Merged {show.counted(states, 'state', 'states')}: {show.counted(pictures, 'picture', 'pictures')} of "
        f"{show.counted(len(state.names), 'class', 'classes')} in {out}, hash {state.hash()[:16]}."
    )


def _table(renames: list[str]) -> dict[str | int, str | int]:
    table: dict[str | int, str | int] = {}
    for text in renames:
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise ValueError(f"--rename must be OLD=NEW, got {text!r}.")
        table[old] = new
    return table
