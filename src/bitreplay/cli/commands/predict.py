"""bitreplay predict STATE IMAGES..."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from bitreplay.arguments import shown
from bitreplay.cli import options, show
from bitreplay.cli.reading import LeftOut, fitted
from bitreplay.data.folder import passed_over, pictures
from bitreplay.learner import Learner


def predict(
    state: options.State,
    images: Annotated[list[Path], typer.Argument(help="Pictures, or folders of pictures.", show_default=False)],
    model: options.ModelFile = None,
    top: Annotated[int, typer.Option(min=1, help="How many answers to show for each picture.")] = 1,
    unknown: Annotated[
        float | None, typer.Option(help='Share of the stored samples that may be "unknown"; 0 is never.')
    ] = None,
    skip_unreadable: options.SkipUnreadable = False,
    json: options.Json = False,
) -> None:
    """Say what is in pictures."""
    learner = Learner.load(state, model)
    left_out = LeftOut(skip_unreadable)
    paths: list[Path] = []
    for place in images:
        paths += pictures(place) if place.is_dir() else [place]
        left_out.passed_over(passed_over(place) if place.is_dir() else [])
    read = list(fitted(paths, learner.strategy.side, left_out.unreadable))
    left_out.end()
    if not read:
        raise ValueError("There are no pictures that can be read.")
    codes = learner.latents(np.concatenate([picture for _, picture in read]))
    names, shares = learner.predict_latents(codes, unknown=unknown), learner.predict_proba_latents(codes)
    found = []
    for (path, _), answer, share in zip(read, names.tolist(), shares, strict=True):
        best = np.argsort(-share, kind="stable")[:top]
        likely = [{"label": learner.labels[k], "probability": round(float(share[k]), 6)} for k in best]
        found.append({"image": str(path), "label": answer, "likely": likely})
    if json:
        show.as_json({"state": str(state), "predictions": found, "left_out": left_out.sentences})
        return
    rows = [
        (shown(row["image"]), "unknown" if row["label"] is None else shown(row["label"]),
         ", ".join(f"{shown(answer['label'])} {100 * answer['probability']:.1f} %" for answer in row["likely"]))
        for row in found
    ]  # fmt: skip
    show.say(show.table("", ("picture", "answer", "probability"), rows))
