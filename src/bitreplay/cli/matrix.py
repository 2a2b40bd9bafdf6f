"""A confusion matrix as lines of text: classes are numbered, a row for each true class, a column for each answer."""

from __future__ import annotations

import numpy as np
from rich.cells import cell_len, set_cell_size

from bitreplay.arguments import escaped
from bitreplay.evaluation.evaluation import Evaluation

LONGEST_NAME = 20


def lines(evaluation: Evaluation, width: int) -> list[str]:
    """The matrix, or a hint if it is wider than `width` characters."""
    counts, names = evaluation.confusion, [escaped(label) for label in evaluation.labels]
    tested = np.flatnonzero(counts.sum(axis=1))
    heads = [*map(str, range(1, len(names) + 1)), *(["unknown"] if counts[:, -1].any() else [])]
    counts = counts[:, : len(heads)]
    cell = max(len(str(counts.max(initial=0))), len(str(len(names)))) + 1
    name_width = min(LONGEST_NAME, max(map(cell_len, names)))  # in columns of the terminal: some characters take two
    number = len(str(len(names)))
    first = number + 1 + name_width
    if first + cell * len(names) + (8 if len(heads) > len(names) else 0) > width:
        return [f"The confusion matrix of {len(names)} classes is wider than {width} characters: --plot FILE draws it."]
    cells = [cell] * len(names) + [8]
    head = "".join(f"{text:>{w}}" for text, w in zip(heads, cells, strict=False))
    text_lines = ["Rows are true classes, columns are answers; . is 0.", " " * first + head]
    for row in tested:
        fits = cell_len(names[row]) <= name_width
        name = set_cell_size(names[row], name_width) if fits else set_cell_size(names[row], name_width - 1) + "~"
        body = "".join(f"{count or '.':>{w}}" for count, w in zip(counts[row].tolist(), cells, strict=False))
        text_lines.append(f"{row + 1:>{number}} {name}{body}")
    return text_lines
