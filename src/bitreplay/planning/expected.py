"""What was measured with a setting, to propose it by: final accuracies of committed rows, in expected.csv.

`python experiments/results.py` writes the file. Replay's rows were made with minibatches of 32 new and 128 replayed.
Each names the checksum of the weights that it was made with, since a name gets better ones in time.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from bitreplay.settings import Settings
from bitreplay.strategies import STRATEGIES

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
    def settings(self) -> Settings:
        """Those that the row was measured with, as far as its strategy reads them."""
        values = {
            "replay_layer": self.replay_layer or None,
            "latent_bits": self.latent_bits,
            "memory_per_class": self.memory_per_class,
            "feature_layers": self.feature_layers or None,
            "n_components": self.n_components,
        }
        own = STRATEGIES[self.strategy].own_settings
        return Settings.of(
            strategy=self.strategy, bits=self.bits, **{name: value for name, value in values.items() if name in own}
        )


def expected(model: str, digest: str) -> list[Expected]:
    """Best first. Rows of other weights of that name count where these weights have none."""
    with FILE.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    measured = [
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
    with_these = {row.settings for row in measured if digest.startswith(row.digest)}
    usable = [row for row in measured if digest.startswith(row.digest) or row.settings not in with_these]
    return sorted(usable, key=lambda row: -row.accuracy)
