"""bitreplay merge A B ... --out C: the states of many devices, added up."""

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
        Path | None, typer.Option(help="The state that all of them began as; its pictures count once.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="OLD=NEW, also repeated: classes that get one name become one.")
    ] = None,
    without: Annotated[
        list[Path] | None,
        typer.Option(help="A state that was merged into these before and shall be taken out again; also repeated."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    json: options.Json = False,
) -> None:
    """Merge states into the one of a device that saw all their pictures; the model is not needed."""
    with Lock(out) as lock:
        if out.exists() and not overwrite:
            raise ValueError(f"{out} exists; merge with --overwrite to replace it.")
        said: list[str] = []
        with warnings.catch_warnings(record=True) as caught, show.bar(quiet=json) as bar:
            warnings.simplefilter("always", MergedTwice)
            total = Total(None if base is None else statefile.load(base)[0], _table(rename or []))
            for number, path in enumerate(states):
                bar.part("merging", number, len(states))
                total.add(statefile.load(path)[0], str(path))
            for path in without or []:
                total.take_out(statefile.load(path)[0], str(path))
            content = total.content()
            said += [str(warning.message) for warning in caught]
        with saving.uninterrupted():
            origin = Origin().without_past() if without else Origin()
            _, remark = statefile.save(out, content, origin, lock, overwrite)
    with saving.answering(f"{out} is saved."):
        for sentence in (*said, *([f"{out} is saved, but {remark}"] if remark else [])):
            show.complain(f"warning: {sentence}")
        _tell(out, content, len(states), said, json)


def _tell(out: Path, content: Content, states: int, said: list[str], json: bool) -> None:
    state, kind = content.state, STRATEGIES[content.settings.strategy]
    pictures = kind.pictures(state)
    if json:
        show.as_json({"state": str(out), "states": states, "pictures": pictures, "classes": list(state.names),
                      "warnings": said, "hash": state.hash()})  # fmt: skip
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
            raise ValueError(f"A renaming is OLD=NEW, got {text!r}.")
        table[old] = new
    return table
