"""Pictures in files, folders or on stdin, answered and told: what `predict` does once it knows its options."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay.cli import answers, show
from bitreplay.cli.reading import SkippedFiles, fitted, fitted_bytes
from bitreplay.data.tree import pictures_below
from bitreplay.learner import Learner

STDIN = Path("-")


def answer(
    learner: Learner, state: Path, places: Sequence[Path], unknown: float | None = None, top: int = 1,
    skip_unreadable: bool = False, csv: bool = False, json: bool = False,
) -> None:  # fmt: skip
    skipped = SkippedFiles(skip_unreadable)
    read = list(_read(places, learner.strategy.side, skipped))
    skipped.end()
    if not read:
        raise ValueError("There are no pictures that can be read.")
    latents = learner.encode(np.concatenate([picture for _, picture in read]))
    found = answers.answered(learner, [str(path) for path, _ in read], latents, unknown, top)
    if csv:
        show.text(answers.as_csv(found, top))
    elif json:
        show.as_json({"state": str(state), "labels": learner.labels, "predictions": found,
                      "left_out": skipped.sentences})  # fmt: skip
    else:
        show.say(answers.as_table(found, top))


def _read(places: Sequence[Path], side: int, skipped: SkippedFiles) -> Iterator[tuple[Path | str, NDArray[np.uint8]]]:
    for place in places:
        if place == STDIN:
            yield from fitted_bytes(sys.stdin.buffer, "stdin", side, skipped.unreadable)
            continue
        if not place.is_dir():
            yield from fitted([place], side, skipped.unreadable)
            continue
        paths, others = pictures_below(place)
        skipped.passed_over(others)
        yield from fitted(paths, side, skipped.unreadable_among_others)
