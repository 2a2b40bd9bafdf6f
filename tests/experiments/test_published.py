"""Published figures on CIFAR-10, repeated to the digit. `make test-published` brings the pictures."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (Path(os.environ.get("BITREPLAY_DATA", ".")) / "cifar-10-batches-bin").is_dir(),
        reason="needs CIFAR-10 in the folder BITREPLAY_DATA (`make test-published` brings it)",
    ),
]


@pytest.fixture(autouse=True)
def experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))


def test_quick_runs_end_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    reproduce = importlib.import_module("reproduce")
    assert reproduce.reproduce(["all"], True, 1, 1, "cpu", print)
    out = capsys.readouterr().out
    assert "All as published." in out and "not published" not in out and out.count("as published") > 20


def test_a_figure_that_differs_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce = importlib.import_module("reproduce")
    lines: list[str] = []
    digit = reproduce.EXPECTED.read_text().replace("5", "6")
    monkeypatch.setattr(reproduce, "EXPECTED", tmp_path / "quick.json")
    reproduce.EXPECTED.write_text(digit)
    assert not reproduce.reproduce(["ni"], True, 1, 1, "cpu", lines.append)
    assert any("differs: published" in line for line in lines) and "differ from what was published" in lines[-1]


def test_a_row_of_the_tables_is_made_again(tmp_path: Path) -> None:
    """Exact sums, 500 pictures of a class: what stands in docs/results-tables.md."""
    grid, run = importlib.import_module("grid"), importlib.import_module("run")
    requested = run.Run(strategy="exact")
    published = next(row for row in grid.rows() if grid.run_of(row) == requested)
    made = run.row(requested, tmp_path)
    assert (made["final"], made["after"]) == (published["final"], published["after"])
    assert (made["digest"], made["memory_bytes"]) == (published["digest"], published["memory_bytes"])
