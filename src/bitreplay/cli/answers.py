"""Answers about pictures, as `predict` tells them: one object for JSON, a row of a table, a line, a row of CSV."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from bitreplay.arguments import escaped
from bitreplay.cli import show
from bitreplay.learner import Learner


def answered(
    learner: Learner, images: Sequence[str], latents: NDArray, unknown: float | None, top: int
) -> list[dict[str, Any]]:  # fmt: skip
    """For each picture its name, its label (None: unknown) and the `top` most likely ones with their probabilities."""
    names, shares = learner.predict_encoded(latents, unknown=unknown), learner.predict_proba_encoded(latents)
    labels, found = learner.labels, []
    for image, answer, share in zip(images, names.tolist(), shares, strict=True):
        best = np.argsort(-share, kind="stable")[:top]
        likely = [{"label": labels[k], "probability": round(float(share[k]), 6)} for k in best]
        found.append({"image": image, "label": answer, "likely": likely})
    return found


def as_table(found: Sequence[dict[str, Any]], top: int) -> Table:
    """Files are named from the folder on that all of them share, which stands above the table."""
    shared, names = apart([answer["image"] for answer in found])
    rows = [(name, _label(answer), *_shares(answer, top)) for name, answer in zip(names, found, strict=True)]
    columns = ("picture", "answer", "probability", *(("then",) if top > 1 else ()))
    return show.table(shared, columns, rows, text=2)


def as_line(answer: dict[str, Any], top: int) -> str:
    return f"{escaped(answer['image'])}: {_label(answer)}, {', '.join(_shares(answer, top))}"


def as_csv(found: Iterable[dict[str, Any]], top: int, header: bool = True) -> str:
    """A row a picture: image, label (empty: unknown), then the likely labels and their probabilities, best first."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    if header:
        rows.writerow(
            ["image", "label", *(f"{word}_{k}" for k in range(1, top + 1) for word in ("likely", "probability"))]
        )
    for answer in found:
        likely = [cell for one in answer["likely"] for cell in (one["label"], one["probability"])]
        rows.writerow([answer["image"], "" if answer["label"] is None else answer["label"], *likely])
    return text.getvalue()


def _label(answer: dict[str, Any]) -> str:
    return "unknown" if answer["label"] is None else escaped(answer["label"])


def _shares(answer: dict[str, Any], top: int) -> list[str]:
    """The probability of the label, and with `top` above 1 what else is likely. Of an unknown one all are told."""
    percents = [f"{100 * one['probability']:.1f} %" for one in answer["likely"]]
    named = [f"{escaped(one['label'])} {share}" for one, share in zip(answer["likely"], percents, strict=True)]
    first = named[0] if answer["label"] is None else percents[0]
    return [first, *([", ".join(named[1:])] if top > 1 else [])]


def apart(images: Sequence[str]) -> tuple[str, list[str]]:
    """The folder that all of them share, and their names from there on.

    >>> apart(["test/pear/1.jpg", "test/plum/1.jpg"]), apart(["test/pear.jpg"])
    (('test', ['pear/1.jpg', 'plum/1.jpg']), ('', ['test/pear.jpg']))
    """
    if len(images) < 2:
        return "", list(images)
    folders = {os.path.dirname(image) for image in images}
    mixed = len({os.path.isabs(folder) for folder in folders}) > 1
    shared = "" if mixed else os.path.commonpath(folders) if all(folders) else ""
    return shared, [os.path.relpath(image, shared) if shared else image for image in images]
