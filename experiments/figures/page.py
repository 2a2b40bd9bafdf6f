"""docs/page.md's figures: benchmarks/page.py's rows."""

from __future__ import annotations

from decimal import Decimal
from statistics import median

from figures.committed import BENCHMARKS, format_number, rows, rows_where, single_value, table

PAGE = "docs/page.md"
NETWORKS = ("react_tiny", "bireal18")
LINES = {  # what was measured, its unit, and how it is told
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
DIVISORS = {("ms", "ms"): 1, ("ms", "s"): 1000, ("CPU s", "s"): 1, ("bytes", "MB"): 10**6}
FILES = {"first": "page.csv", "shared": "page_shared.csv"}  # Chromium before other programs, and as one of them


def _values(model: str, what: str, unit: str, turn: str = "first") -> list[Decimal]:
    matches = rows_where(BENCHMARKS / FILES[turn], model=model, what=what, unit=unit)
    single_value(row["put first"] == str(turn == "first") for row in matches)
    return [Decimal(row["value"]) for row in matches]


def measured() -> str:
    lines: list[list[object]] = []
    for label, (what, unit, shown) in LINES.items():
        cells, each = [], [_values(model, what, unit) for model in NETWORKS]
        for matches in each:
            least, middle = (
                format_number(value / DIVISORS[unit, shown], 2 if unit == "CPU s" else 1)
                for value in (min(matches), median(matches))
            )
            cells.append(f"{least} {shown}" if min(matches) == max(matches) else f"{least}, {middle} {shown}")
        lines.append([label, single_value(len(matches) for matches in each), *cells])
    return table(["least, median of the turns", "turns", "`react_tiny`", "`bireal18`"], lines)


def loads(turn: str) -> str:
    each = [Decimal(row["load"]) for row in rows(BENCHMARKS / FILES[turn])]
    return f"{format_number(min(each), 0)} to {format_number(max(each), 0)}"


def held(turn: str) -> str:
    """How often 50 ms and 2 s hold, with Bi-Real-18."""
    files = _values("bireal18", "a file shown", "ms", turn)
    classes = [
        ms
        for which in ("first", "later")
        for ms in _values("bireal18", f"20 files by exact, {which} class", "ms", turn)
    ]
    return (
        f"of {len(files)} files shown {sum(ms <= 50 for ms in files)} had their answer within 50 ms, the slowest in "
        f"{format_number(max(files), 0)} ms, and of {len(classes)} classes of 20 files "
        f"{sum(ms <= 2000 for ms in classes)} were "
        f"known within 2 s, the slowest in {format_number(max(classes) / 1000)} s"
    )


def machine() -> str:
    every = [row for file in FILES.values() for row in rows(BENCHMARKS / file)]
    chromium, cpu = single_value((row["chromium"].split(".")[0], row["cpu"]) for row in every)
    return f"{chromium} on two cores of an {cpu}"
