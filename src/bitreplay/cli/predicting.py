"""Predicts the classes of pictures in files, folders or on stdin, and prints them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay.cli import predictions, show
from bitreplay.cli.reading import SkippedFiles, read_pictures, read_stream
from bitreplay.data.tree import pictures_below
from bitreplay.learner import Learner

STDIN = Path("-")


def predict_files(
    learner: Learner, state: Path, inputs: Sequence[Path], unknown: float | None = None, top: int = 1,
    skip_unreadable: bool = False, csv: bool = False, json: bool = False,
) -> None:  # fmt: skip
    skipped = SkippedFiles(skip_unreadable)
    pictures = list(_read(inputs, learner.strategy.side, skipped))
    skipped.end()
    if not pictures:
        raise ValueError("There are no readable pictures.")
    latents = learner.encode(np.concatenate([picture for _, picture in pictures]))
    rows = predictions.predictions_of(learner, [str(path) for path, _ in pictures], latents, unknown, top)
    if csv:
        show.text(predictions.as_csv(rows, top))
    elif json:
        show.as_json({"state": str(state), "labels": learner.labels, "predictions": rows,
                      "skipped": skipped.sentences})  # fmt: skip
    else:
        show.say(predictions.as_table(rows, top))


def _read(inputs: Sequence[Path], side: int, skipped: SkippedFiles) -> Iterator[tuple[Path | str, NDArray[np.uint8]]]:
    for path in inputs:
        if path == STDIN:
            yield from read_stream(sys.stdin.buffer, "stdin", side, skipped.unreadable)
            continue
        if not path.is_dir():
            yield from read_pictures([path], side, skipped.unreadable)
            continue
        paths, others = pictures_below(path)
        skipped.add(others)
        yield from read_pictures(paths, side, skipped.unreadable_among_others)
