"""The confusion matrix as a plot: a row for each true class, a column for each predicted class.

Colour is the share of the row, so that small classes are as visible as large ones; the number is the count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bitreplay.arguments import escaped
from bitreplay.evaluation.evaluation import Evaluation
from bitreplay.plots.figure import figure

MAX_CLASSES_WITH_COUNTS = 30  # with more classes counts are too small to read
MAX_CLASSES_WITH_NAMES = 120
MAX_NAME_LENGTH = 24
RIGHT, WRONG = "Greens", "Reds"


def confusion(evaluation: Evaluation, title: str | None = None) -> Any:
    """Plots a confusion matrix: right predictions in green, wrong ones in red.

    Parameters
    ----------
    evaluation : Evaluation
        From `Learner.evaluate`. "unknown" gets a column if it was predicted at all.
    title : str, optional
        Precedes the accuracy in the plot's title.

    Returns
    -------
    matplotlib.figure.Figure
        A new figure.

    Raises
    ------
    ValueError
        If matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from bitreplay import Learner
    >>> images = np.stack([np.full((32, 32, 3), value, np.uint8) for value in (0, 255)])
    >>> learner = Learner.from_pretrained("react_tiny")
    >>> learned = learner.learn(images, ["dark", "light"])
    >>> confusion(learner.evaluate(images, ["dark", "light"])).axes[0].get_title(loc="left")
    'accuracy 100.0 % on 2 pictures'
    """
    counts = evaluation.confusion
    names = [_short(str(label)) for label in evaluation.labels]
    rows = counts.sum(axis=1) > 0
    columns = np.append(np.ones(len(names), bool), counts[:, -1].any())
    counts = counts[rows][:, columns]
    true = [name for name, tested in zip(names, rows, strict=True) if tested]
    predicted = [*names, "unknown"][: counts.shape[1]]
    cell = 0.42 if len(names) <= MAX_CLASSES_WITH_COUNTS else max(0.08, 12 / len(names))
    # A letter is some 0.075 inches wide.
    margin = 0.075 * max(map(len, predicted)) + 0.9
    result = figure(cell * len(predicted) + margin + 0.6, cell * len(true) + margin + 0.5)
    axes = result.subplots()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    right = np.zeros(counts.shape, bool)
    for row, number in enumerate(np.flatnonzero(rows)):
        right[row, number] = True
    for cells, colours in ((right, RIGHT), (~right, WRONG)):
        axes.imshow(np.ma.array(shares, mask=~cells | (counts == 0)), cmap=colours, vmin=0, vmax=1, aspect="equal")
    if len(names) <= MAX_CLASSES_WITH_COUNTS:
        for (row, column), count in np.ndenumerate(counts):
            if count:
                colour = "white" if shares[row, column] > 0.6 else "black"
                axes.text(column, row, str(count), ha="center", va="center", fontsize=8, color=colour)
    if len(names) <= MAX_CLASSES_WITH_NAMES:
        size = 8 if len(names) <= MAX_CLASSES_WITH_COUNTS else 5
        axes.set_xticks(range(len(predicted)), predicted, rotation=90, fontsize=size)
        axes.set_yticks(range(len(true)), true, fontsize=size)
    axes.set_xticks(np.arange(len(predicted) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(true) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="#e4e4e4", linewidth=0.5)
    axes.tick_params(which="both", length=0)
    axes.set_xlabel("predicted class")
    axes.set_ylabel("true class")
    accuracy = f"accuracy {100 * evaluation.accuracy:.1f} % on {evaluation.samples} pictures"
    axes.set_title(accuracy if title is None else f"{_short(title)}: {accuracy}", fontsize=10, loc="left")
    return result


def _short(name: str) -> str:
    """One line of text; a dollar sign is escaped, since it would begin a formula."""
    text = escaped(name)
    text = text if len(text) <= MAX_NAME_LENGTH else text[: MAX_NAME_LENGTH - 3] + "..."
    return text.replace("$", r"\$")
