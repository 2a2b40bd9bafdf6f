"""Predicts the classes of pictures in files, folders or on stdin, and prints them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay.cli import predictions, show
from bitreplay.cli.reading import SkippedFiles, Used, read_pictures, read_stream
from bitreplay.data.tree import pictures_below
from bitreplay.learner import Learner

STDIN = Path("-")


def predict_files(
    learner: Learner, state: Path, inputs: Sequence[Path], unknown: float | None = None, top: int = 1,
    skip_unreadable: bool = False, csv: bool = False, json: bool = False,
) -> None:  # fmt: skip
    skipped = SkippedFiles(skip_unreadable)
    used, names = Used(learner.encode), list[str]()
    for path, picture in _read(inputs, learner.strategy.side, skipped):
        used.add(picture)
        names.append(str(path))
    skipped.end()
    if not names:
        raise ValueError("There are no readable pictures.")
    rows = predictions.predictions_of(learner, names, used.all(), unknown, top)
    if csv:
        show.text(predictions.as_csv(rows, top))
    elif json:
        show.as_json({"state": str(state), "labels": learner.labels, "predictions": rows,
                      "skipped": skipped.sentences})  # fmt: skip
    else:
        show.say(predictions.as_table(rows, top))


def _read(inputs: Sequence[Path], side: int, skipped: SkippedFiles) -> Iterator[tuple[Path | str, NDArray[np.uint8]]]:
    for are_files, run in groupby(inputs, lambda path: path != STDIN and not path.is_dir()):
        if are_files:
            yield from read_pictures(run, side, skipped.unreadable)
            continue
        for path in run:
            if path == STDIN:
                yield from read_stream(sys.stdin.buffer, "stdin", side, skipped.unreadable)
                continue
            paths, others = pictures_below(path)
            skipped.add(others)
            yield from read_pictures(paths, side, skipped.unreadable_among_others)
