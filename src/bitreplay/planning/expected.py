"""What was measured with a setting, to propose it by: final accuracies of committed rows, in expected.csv.

`python experiments/results.py` writes the file. Replay's rows were made with minibatches of 32 new and 128 replayed.
Each names the checksum of the weights that it was made with, since a name gets better ones in time.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("expected.csv")
HEADER = ("model", "digest", "data", "strategy", "level", "code_bits", "bits", "per_class", "numbers", "seeds",
          "accuracy")  # fmt: skip


@dataclass(frozen=True)
class Expected:
    """The mean over `seeds` runs on `data` with the weights `digest`; `level` is empty for the model's last one,
    `numbers` are those of exact, empty for the model's own."""

    model: str
    digest: str
    data: str
    strategy: str
    level: str
    code_bits: int
    bits: str
    per_class: int
    numbers: str
    seeds: int
    accuracy: float

    @property
    def settings(self) -> tuple[object, ...]:
        """What was asked for."""
        return self.strategy, self.level, self.code_bits, self.bits, self.per_class, self.numbers


def expected(model: str, digest: str) -> list[Expected]:
    """Best first. What was measured with other weights of that name counts where these have no row."""
    with FILE.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    found = [
        Expected(row["model"], row["digest"], row["data"], row["strategy"], row["level"], int(row["code_bits"]),
                 row["bits"], int(row["per_class"]), row["numbers"], int(row["seeds"]), float(row["accuracy"]))
        for row in rows
    ]  # fmt: skip
    own = {each.settings for each in found if digest.startswith(each.digest)}
    kept = [each for each in found if digest.startswith(each.digest) or each.settings not in own]
    return sorted(kept, key=lambda each: -each.accuracy)
