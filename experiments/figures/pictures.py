"""docs/pictures.md's figures."""

from __future__ import annotations

from figures.committed import BENCHMARKS, rows, table

PAGE = "docs/pictures.md"


def photographs() -> str:
    header = ["side", "seconds", "Pillow's", "ratio", "MiB above base", "Pillow's"]
    return table(header, [list(row.values()) for row in rows(BENCHMARKS / "photographs.csv")])
