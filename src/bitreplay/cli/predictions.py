"""Predictions as `predict` prints them: JSON objects, rows of a table, lines or rows of CSV."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.arguments import escaped
from bitreplay.cli import show
from bitreplay.cli.tables import Table
from bitreplay.learner import Learner


def predictions_of(
    learner: Learner, images: Sequence[str], latents: NDArray, unknown: float | None, top: int
) -> list[dict[str, Any]]:  # fmt: skip
    """For each picture its name, its label (None: unknown) and the `top` most likely labels with their
    probabilities."""
    names, shares = learner.predict_encoded(latents, unknown=unknown), learner.predict_proba_encoded(latents)
    labels, predictions = learner.labels, []
    for image, prediction, share in zip(images, names.tolist(), shares, strict=True):
        best = np.argsort(-share, kind="stable")[:top]
        likely = [{"label": labels[k], "probability": round(float(share[k]), 6)} for k in best]
        predictions.append({"image": image, "label": prediction, "likely": likely})
    return predictions


def as_table(predictions: Sequence[dict[str, Any]], top: int) -> Table:
    """Paths are relative to the folder that all files share, which is the table's title."""
    shared, names = common_folder([prediction["image"] for prediction in predictions])
    rows = [
        (name, _label(prediction), *_shares(prediction, top))
        for name, prediction in zip(names, predictions, strict=True)
    ]
    columns = ("picture", "answer", "probability", *(("then",) if top > 1 else ()))
    return show.table(shared, columns, rows, text=2)


def as_line(prediction: dict[str, Any], top: int) -> str:
    return f"{escaped(prediction['image'])}: {_label(prediction)}, {', '.join(_shares(prediction, top))}"


def as_csv(predictions: Iterable[dict[str, Any]], top: int, header: bool = True) -> str:
    """One row per picture: image, label (empty: unknown), then the likely labels and their probabilities, best
    first."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    if header:
        rows.writerow(
            ["image", "label", *(f"{word}_{k}" for k in range(1, top + 1) for word in ("likely", "probability"))]
        )
    for prediction in predictions:
        likely = [cell for one in prediction["likely"] for cell in (one["label"], one["probability"])]
        rows.writerow([prediction["image"], "" if prediction["label"] is None else prediction["label"], *likely])
    return text.getvalue()


def _label(prediction: dict[str, Any]) -> str:
    return "unknown" if prediction["label"] is None else escaped(prediction["label"])


def _shares(prediction: dict[str, Any], top: int) -> list[str]:
    """The probability of the label and, with `top` above 1, the other likely labels; all of them if it is unknown."""
    percents = [f"{100 * one['probability']:.1f} %" for one in prediction["likely"]]
    named = [f"{escaped(one['label'])} {share}" for one, share in zip(prediction["likely"], percents, strict=True)]
    first = named[0] if prediction["label"] is None else percents[0]
    return [first, *([", ".join(named[1:])] if top > 1 else [])]


def common_folder(images: Sequence[str]) -> tuple[str, list[str]]:
    """The folder that all files share, and their paths relative to it.

    >>> common_folder(["test/pear/1.jpg", "test/plum/1.jpg"]), common_folder(["test/pear.jpg"])
    (('test', ['pear/1.jpg', 'plum/1.jpg']), ('', ['test/pear.jpg']))
    """
    if len(images) < 2:
        return "", list(images)
    folders = {os.path.dirname(image) for image in images}
    mixed = len({os.path.isabs(folder) for folder in folders}) > 1
    shared = "" if mixed else os.path.commonpath(folders) if all(folders) else ""
    return shared, [os.path.relpath(image, shared) if shared else image for image in images]
