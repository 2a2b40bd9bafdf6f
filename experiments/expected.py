"""Accuracies for `bitreplay plan --budget`, from the committed rows: src/bitreplay/planning/expected.csv.

Runs as a user would make them: the library's strategies at their own rates. CIFAR-10 with 500 images a class, object
sessions for the QuickNets.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from run import Run
from tables import SEEDS, Rows

from bitreplay.planning.expected import FILE, HEADER
from bitreplay.strategies import STRATEGIES

SETS = {"cifar10": 500, "sessions": None}


def write(rows: list[dict[str, Any]], path: Path = FILE) -> None:
    found, asked = Rows(rows), []
    for row in rows:
        run = Run(**row["config"])
        usual = Run(data=run.data, model=run.model, strategy=run.strategy, images=SETS.get(run.data, -1),
                    level=run.level, code_bits=run.code_bits, bits=run.bits, per_class=run.per_class)  # fmt: skip
        if run == usual and run.strategy in STRATEGIES and run.bits != "float":
            asked.append(run)
    lines = []
    for run in dict.fromkeys(asked):
        figures = found.of(run, SEEDS)
        if figures:
            lines.append((run.model, run.data, run.strategy, run.level or "", run.code_bits, run.bits, run.per_class,
                          len(figures.rows), f"{figures.final:.1f}"))  # fmt: skip
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(sorted(lines))
