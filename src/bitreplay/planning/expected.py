"""What was measured with a setting, to propose it by: final accuracies of committed rows, in expected.csv.

`python experiments/results.py` writes the file. Replay's rows were made with minibatches of 32 new and 128 replayed.
Each names the checksum of the weights that it was made with, since a name gets better ones in time.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("expected.csv")
HEADER = (
    "model",
    "digest",
    "data",
    "strategy",
    "replay_layer",
    "latent_bits",
    "bits",
    "memory_per_class",
    "feature_layers",
    "n_components",
    "seeds",
    "accuracy",
)


@dataclass(frozen=True)
class Expected:
    """The mean over `seeds` runs on `data` with the weights `digest`; `replay_layer` is empty for the model's last one,
    `feature_layers` and `n_components` are those of exact, empty for the model's own layers and for no projection."""

    model: str
    digest: str
    data: str
    strategy: str
    replay_layer: str
    latent_bits: int
    bits: str
    memory_per_class: int
    feature_layers: str
    n_components: int | None
    seeds: int
    accuracy: float

    @property
    def settings(self) -> tuple[object, ...]:
        """What was asked for."""
        return (
            self.strategy,
            self.replay_layer,
            self.latent_bits,
            self.bits,
            self.memory_per_class,
            self.feature_layers,
            self.n_components,
        )


def expected(model: str, digest: str) -> list[Expected]:
    """Best first. What was measured with other weights of that name counts where these have no row."""
    with FILE.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    found = [
        Expected(
            row["model"],
            row["digest"],
            row["data"],
            row["strategy"],
            row["replay_layer"],
            int(row["latent_bits"]),
            row["bits"],
            int(row["memory_per_class"]),
            row["feature_layers"],
            int(row["n_components"]) if row["n_components"] else None,
            int(row["seeds"]),
            float(row["accuracy"]),
        )
        for row in rows
    ]
    own = {each.settings for each in found if digest.startswith(each.digest)}
    kept = [each for each in found if digest.startswith(each.digest) or each.settings not in own]
    return sorted(kept, key=lambda each: -each.accuracy)
