"""docs/page.md says what the rows of benchmarks/page.py say."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "page.md").read_text()
MODELS = ("react_tiny", "bireal18")
ROWS = {  # of the table: what was measured, its unit, and how it is told
    "a picture answered, the page's own median of 15": ("a picture answered, the page's median of 15", "ms", "ms"),
    "from a file to its answer in the page": ("a file shown", "ms", "ms"),
    "20 files to a known class, `exact`": ("20 files by exact, later class", "ms", "s"),
    "the same, CPU time": ("20 files by exact, later class", "CPU s", "s"),
    "the first class after a network is loaded, `exact`": ("20 files by exact, first class", "ms", "s"),
    "the first class by `replay`": ("20 files by replay, first class", "ms", "s"),
    "the second class by `replay`": ("20 files by replay, second class", "ms", "s"),
    "the second class by `replay`, CPU time": ("20 files by replay, second class", "CPU s", "s"),
    "1,000 files in two classes": ("1,000 files", "ms", "s"),
    "meanwhile, the longest time without an answer": ("1,000 files, longest time without an answer", "ms", "s"),
    "heap with these 1,000": ("1,000 files, heap", "bytes", "MB"),
    "reload with these 1,000": ("1,000 files, reload", "ms", "s"),
    "20 photographs of 12 megapixels": ("20 photographs of 12 megapixels", "ms", "s"),
    "the same photographs, CPU time": ("20 photographs of 12 megapixels", "CPU s", "s"),
    "network, a file": ("network", "bytes", "MB"),
    "state of three classes, a file": ("state", "bytes", "MB"),
    "memory to work in": ("memory to work in", "bytes", "MB"),
    "the network in float": ("the network in float", "bytes", "MB"),
}
DIVISORS = {("ms", "ms"): 1, ("ms", "s"): 1e3, ("CPU s", "s"): 1, ("bytes", "MB"): 1e6}


FIRST, SHARED = "page.csv", "page_shared.csv"  # Chromium before other programs, and as one of them


def rows(name: str = FIRST) -> list[dict[str, str]]:
    with open(ROOT / "benchmarks" / "results" / name, newline="") as file:
        return list(csv.DictReader(file))


def values(model: str, what: str, unit: str, name: str = FIRST) -> list[float]:
    wanted = {"model": model, "what": what, "unit": unit}
    return [float(row["value"]) for row in rows(name) if wanted.items() <= row.items()]


def loads(name: str) -> str:
    found = [float(row["load"]) for row in rows(name)]
    return f"at loads of {min(found):.0f} to {max(found):.0f}"


def shown(label: str) -> str:
    """The line of the table."""
    what, unit, told = ROWS[label]
    found = [values(model, what, unit) for model in MODELS]
    turns = len(found[0])
    assert [len(one) for one in found] == [turns] * 2
    digits = 2 if unit == "CPU s" else 1
    cells = []
    for one in found:
        least, middle = (f"{value(one) / DIVISORS[unit, told]:.{digits}f}" for value in (min, median))
        cells.append(f"{least} {told}" if min(one) == max(one) else f"{least}, {middle} {told}")
    return f"| {label} | {turns} | {cells[0]} | {cells[1]} |"


def table() -> list[str]:
    start = TEXT.index("| least, median of the turns |")
    return TEXT[start:].split("\n\n")[0].split("\n")[2:]


def within(what: list[str], most: float, name: str) -> tuple[int, int, float]:
    found = [value for one in what for value in values("bireal18", one, "ms", name)]
    return len(found), sum(value <= most for value in found), max(found)


def held(name: str) -> str:
    """How often 50 ms and 2 s hold."""
    count, quick, slowest = within(["a file shown"], 50, name)
    classes, soon, longest = within(["20 files by exact, first class", "20 files by exact, later class"], 2000, name)
    return (
        f"of {count} files shown {quick} had their answer within 50 ms, the slowest in {slowest:.0f} ms, "
        f"and of {classes} classes of 20 files {soon} were known within 2 s, the slowest in {longest / 1e3:.1f} s"
    )


@pytest.mark.parametrize("label", ROWS)
def test_a_line_of_the_table_is_its_rows(label):
    assert shown(label) in table()


def test_the_table_has_no_other_line():
    assert len(table()) == len(ROWS)


@pytest.mark.parametrize("name, first", [(FIRST, "True"), (SHARED, "False")])
def test_what_is_held_is_told_with_the_load(name, first):
    assert {row["put first"] for row in rows(name)} == {first}
    text = " ".join(TEXT.split())
    assert held(name) in text and loads(name) in text


def test_the_machine_is_told():
    ((chromium, cpu),) = {(row["chromium"].split(".")[0], row["cpu"]) for row in rows() + rows(SHARED)}
    assert f"Chromium {chromium} on two cores of an {cpu} (Zen 4)" in " ".join(TEXT.split())
