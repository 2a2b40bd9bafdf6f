"""docs/kernels.md says what the rows of benchmarks/limits.py and of `bitreplay bench` say."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "kernels.md").read_text()
RESULTS = ROOT / "benchmarks" / "results"


def test_the_table_of_limits_is_made_of_their_rows(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    lines = importlib.import_module("limits").table()
    start, end = "<!-- made by benchmarks/limits.py table -->\n", "\n<!-- end -->"
    assert TEXT[TEXT.index(start) + len(start) : TEXT.index(end)].split("\n") == lines, "limits.py table"


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def beside() -> list[list[str]]:
    start = TEXT.index("| work | peer | AVX-512: ours |")
    return [cells(line) for line in TEXT[start:].split("\n\n")[0].split("\n")[2:]]


@pytest.mark.parametrize(("file", "column"), [("bench_steps_avx512.json", 2), ("bench_steps_avx2.json", 6)])
def test_the_peers_are_those_of_their_rows(file, column):
    rows = {(row["work"], row["peer"]): row for row in json.loads((RESULTS / file).read_text())["rows"]}
    assert len(beside()) == 12
    for line in beside():
        row = rows[line[0], line[1]]
        ours, theirs = (f"{row[name]:.3g} ms" for name in ("ours", "theirs"))
        assert line[column : column + 4] == [ours, theirs, f"{row['ratio']:.2f}", f"{row['least']:g}"], line[:2]


def test_how_many_ratios_are_reached():
    files = ("bench_steps_avx512.json", "bench_steps_avx2.json")
    held = [[row["holds"] for row in json.loads((RESULTS / file).read_text())["rows"]] for file in files]
    assert [len(each) - each.count(None) for each in held] == [15, 15]
    words = {14: "fourteen", 11: "eleven", 12: "twelve", 13: "thirteen", 15: "all"}
    reached = [words[each.count(True)] for each in held]
    text = " ".join(TEXT.split())
    assert f"Of the fifteen ratios asked for, AVX-512 reaches {reached[0]} and AVX2 {reached[1]}" in text
