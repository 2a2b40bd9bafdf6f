"""bitreplay predict STATE PICTURES..."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import answering, answers, options, show
from bitreplay.cli.reading import fitted
from bitreplay.cli.watching import arrivals
from bitreplay.learner import Learner

BETWEEN_LOOKS = 0.5


def predict(
    state: options.State,
    images: Annotated[
        list[Path] | None,
        typer.Argument(help="Pictures, folders (all pictures below them), or - for one picture on stdin."),
    ] = None,
    watch: Annotated[
        Path | None, typer.Option(help="Answer each picture that comes into this folder, until Ctrl-C.")
    ] = None,
    model: options.ModelFile = None,
    top: Annotated[int, typer.Option(min=1, help="How many answers to show for each picture.")] = 1,
    unknown: Annotated[
        float | None,
        typer.Option(help='Share of known pictures that may be "unknown"; 0 is never.', show_default="the state's"),
    ] = None,
    skip_unreadable: options.SkipUnreadable = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print rows of CSV and nothing else.")] = False,
    json: options.Json = False,
) -> None:
    """Say what is in pictures."""
    if csv and json:
        raise ValueError("Give --csv or --json, not both.")
    if bool(images) == (watch is not None):
        raise ValueError("Give pictures or folders, or --watch FOLDER, and not both.")
    learner = Learner.load(state, model)
    if watch is not None:
        _watch(learner, state, watch, model, top, unknown, csv, json)
    else:
        answering.answer(learner, state, images or [], unknown, top, skip_unreadable, csv, json)


def _watch(
    learner: Learner, state: Path, folder: Path, model: str | None, top: int, unknown: float | None, csv: bool,
    json: bool,
) -> None:  # fmt: skip
    """A line a picture. A state that is saved anew meanwhile is loaded: what another process learns is known here."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder.")
    if csv:
        show.text(answers.as_csv([], top))
    loaded = state.stat().st_mtime_ns
    show.remark(f"Waiting for pictures in {folder}; Ctrl-C ends it.")
    for path in arrivals(folder, lambda: time.sleep(BETWEEN_LOOKS)):
        if state.stat().st_mtime_ns != loaded:
            learner, loaded = Learner.load(state, model), state.stat().st_mtime_ns
        for _, picture in fitted([path], learner.strategy.side, lambda error: show.complain(error)):
            (answer,) = answers.answered(learner, [str(path)], learner.encode(picture), unknown, top)
            if csv:
                show.text(answers.as_csv([answer], top, header=False))
            elif json:
                show.as_json(answer)
            else:
                show.say(answers.as_line(answer, top))
