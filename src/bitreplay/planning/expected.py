"""What was measured with a setting, to propose it by: final accuracies of committed rows, in expected.csv.

`python experiments/results.py` writes the file. Replay's rows were made with minibatches of 32 new and 128 replayed.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("expected.csv")
HEADER = ("model", "data", "strategy", "level", "code_bits", "bits", "per_class", "numbers", "seeds", "accuracy")


@dataclass(frozen=True)
class Expected:
    """The mean over `seeds` runs on `data`; `level` is empty for the model's last one, `numbers` are those of exact."""

    model: str
    data: str
    strategy: str
    level: str
    code_bits: int
    bits: str
    per_class: int
    numbers: str
    seeds: int
    accuracy: float


def expected(model: str) -> list[Expected]:
    """Best first."""
    with FILE.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    found = [
        Expected(row["model"], row["data"], row["strategy"], row["level"], int(row["code_bits"]), row["bits"],
                 int(row["per_class"]), row["numbers"], int(row["seeds"]), float(row["accuracy"]))
        for row in rows
    ]  # fmt: skip
    return sorted(found, key=lambda each: -each.accuracy)
