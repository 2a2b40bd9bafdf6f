"""Rows of runs -> a table of means over seeds, in Markdown.

    python experiments/summarise.py experiments/results/cifar10_slice.csv

Rows are grouped by every column that is neither the seed nor measured.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections import defaultdict
from pathlib import Path

MEASURED = ("seed", "after", "final", "seconds", "forgetting", "cpu_seconds", "hash")


def main(path: Path) -> None:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    keys = [name for name in rows[0] if not name.startswith(MEASURED)]
    varying = [name for name in keys if len({row[name] for row in rows}) > 1]
    groups: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in varying)].append(float(row["final"]))
    print("Same in all rows:", ", ".join(f"{name} {rows[0][name]}" for name in keys if name not in varying) + ".\n")
    print("|", " | ".join([*varying, "runs", "final accuracy, mean", "each"]), "|")
    print("|" + "---|" * (len(varying) + 3))
    for group, finals in groups.items():
        each = ", ".join(f"{value:.2f}" for value in finals)
        print("|", " | ".join([*group, str(len(finals)), f"{statistics.mean(finals):.2f}", each]), "|")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
