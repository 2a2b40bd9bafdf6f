"""Committed rows, run again: experiments/groceries.py makes the same accuracies after every experience."""

import csv
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "experiments" / "results" / "groceries.csv"
MEASURED = ("after", "final")


def rows(path: Path, **wanted: str) -> list[dict[str, str]]:
    with path.open() as file:
        return [row for row in csv.DictReader(file) if wanted.items() <= row.items()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "epochs"), [("replay", "5"), ("cwr", "5"), ("naive", "5"), ("joint", "20")]
)  # fmt: skip
def test_a_committed_row_comes_out_again(tmp_path, monkeypatch, strategy, epochs):
    (committed,) = rows(
        RESULTS,
        model="bireal18",
        bits="8/1/16",
        latent_bits="1",
        strategy=strategy,
        learning_rate="fitted",
        epochs=epochs,
        min_steps="40",
        memory_per_class="30",
        seed="0",
        archive="64x64",
    )
    monkeypatch.syspath_prepend(ROOT / "experiments")
    spec = importlib.util.spec_from_file_location("groceries", ROOT / "experiments" / "groceries.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments = ["--strategies", strategy, "--epochs", epochs, "--seeds", "0", "--results", str(tmp_path / "rows.csv")]
    monkeypatch.setattr(sys, "argv", ["groceries.py", *arguments])
    module.main()
    (again,) = rows(tmp_path / "rows.csv")
    assert again["digest"] == committed["digest"]
    for name in (name for name in again if name.startswith(MEASURED)):
        assert again[name] == committed[name], name
