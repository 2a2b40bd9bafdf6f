"""The confusion matrix as a picture: a row for each true class, a column for each answer.

Colour is the share of the row, so that small classes show as large ones do; the number is the count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bitreplay.arguments import escaped
from bitreplay.evaluation.evaluation import Evaluation
from bitreplay.plots.figure import figure

MAX_FEATURES = 30  # more classes than that, and counts are too small to read
MAX_NAMES = 120
LONGEST = 24
RIGHT, WRONG = "Greens", "Reds"


def confusion(evaluation: Evaluation, title: str | None = None) -> Any:
    """A matplotlib Figure. Right answers are green, wrong ones red; "unknown" has a column if it was ever answered."""
    counts = evaluation.confusion
    names = [_short(str(label)) for label in evaluation.labels]
    rows = counts.sum(axis=1) > 0
    columns = np.append(np.ones(len(names), bool), counts[:, -1].any())
    counts = counts[rows][:, columns]
    true = [name for name, tested in zip(names, rows, strict=True) if tested]
    answers = [*names, "unknown"][: counts.shape[1]]
    cell = 0.42 if len(names) <= MAX_FEATURES else max(0.08, 12 / len(names))
    # The widest name is some 0.075 inches a letter; the matrix has the rest.
    room = 0.075 * max(map(len, answers)) + 0.9
    made = figure(cell * len(answers) + room + 0.6, cell * len(true) + room + 0.5)
    axes = made.subplots()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    right = np.zeros(counts.shape, bool)
    for row, number in enumerate(np.flatnonzero(rows)):
        right[row, number] = True
    for chosen, colours in ((right, RIGHT), (~right, WRONG)):
        axes.imshow(np.ma.array(shares, mask=~chosen | (counts == 0)), cmap=colours, vmin=0, vmax=1, aspect="equal")
    if len(names) <= MAX_FEATURES:
        for (row, column), count in np.ndenumerate(counts):
            if count:
                colour = "white" if shares[row, column] > 0.6 else "black"
                axes.text(column, row, str(count), ha="center", va="center", fontsize=8, color=colour)
    if len(names) <= MAX_NAMES:
        size = 8 if len(names) <= MAX_FEATURES else 5
        axes.set_xticks(range(len(answers)), answers, rotation=90, fontsize=size)
        axes.set_yticks(range(len(true)), true, fontsize=size)
    axes.set_xticks(np.arange(len(answers) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(true) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="#e4e4e4", linewidth=0.5)
    axes.tick_params(which="both", length=0)
    axes.set_xlabel("answer")
    axes.set_ylabel("true class")
    said = f"accuracy {100 * evaluation.accuracy:.1f} % on {evaluation.samples} pictures"
    axes.set_title(said if title is None else f"{_short(title)}: {said}", fontsize=10, loc="left")
    return made


def _short(name: str) -> str:
    """One line of plain letters: a dollar sign would else begin a formula."""
    text = escaped(name)
    text = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    return text.replace("$", r"\$")
