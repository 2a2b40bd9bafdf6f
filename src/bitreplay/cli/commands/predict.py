"""bitreplay predict STATE PICTURES: classify pictures."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, predicting, predictions, show
from bitreplay.cli.reading import read_pictures
from bitreplay.cli.watching import arrivals
from bitreplay.learner import Learner

SCAN_INTERVAL = 0.5


def predict(
    state: options.State,
    images: Annotated[
        list[Path] | None,
        typer.Argument(help="Pictures, folders (with all pictures below them), or - for one picture on stdin."),
    ] = None,
    watch: Annotated[
        Path | None, typer.Option(help="Classify each picture that arrives in this folder, until Ctrl-C.")
    ] = None,
    model: options.ModelFile = None,
    top: Annotated[int, typer.Option(min=1, help="How many likely classes to show per picture.")] = 1,
    unknown: Annotated[
        float | None,
        typer.Option(help='Share of known pictures that may be called "unknown"; 0: none.', show_default="the state's"),
    ] = None,
    skip_unreadable: options.SkipUnreadable = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print rows of CSV and nothing else.")] = False,
    json: options.Json = False,
) -> None:
    """Classify pictures."""
    if csv and json:
        raise ValueError("--csv and --json exclude each other.")
    if bool(images) == (watch is not None):
        raise ValueError("Expected either pictures and folders or --watch FOLDER.")
    learner = Learner.load(state, model)
    if watch is not None:
        _watch(learner, state, watch, model, top, unknown, csv, json)
    else:
        predicting.predict_files(learner, state, images or [], unknown, top, skip_unreadable, csv, json)


def _watch(
    learner: Learner, state: Path, folder: Path, model: str | None, top: int, unknown: float | None, csv: bool,
    json: bool,
) -> None:  # fmt: skip
    """Prints one line per picture. Loads the state again when another process has saved it."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder.")
    if csv:
        show.text(predictions.as_csv([], top))
    loaded = state.stat().st_mtime_ns
    arriving = arrivals(folder, lambda: time.sleep(SCAN_INTERVAL))
    show.note(f"Waiting for pictures in {folder}; Ctrl-C stops.")
    for path in arriving:
        if state.stat().st_mtime_ns != loaded:
            learner, loaded = Learner.load(state, model), state.stat().st_mtime_ns
        for _, picture in read_pictures([path], learner.strategy.side, lambda error: show.error(error)):
            (prediction,) = predictions.predictions_of(learner, [str(path)], learner.encode(picture), unknown, top)
            if csv:
                show.text(predictions.as_csv([prediction], top, header=False))
            elif json:
                show.as_json(prediction)
            else:
                show.say(predictions.as_line(prediction, top))
