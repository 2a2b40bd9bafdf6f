"""docs/your-pictures.md's figures."""

from __future__ import annotations

from decimal import Decimal

from figures.committed import BENCHMARKS, few, format_number, mean, rows_where, table
from figures.shared import exact, forward_ms, start_up, state

PAGE = "docs/your-pictures.md"
__all__ = ["exact", "forward_ms", "start_up", "state"]


def few_pictures() -> str:
    lines: list[list[object]] = []
    for pictures in (5, 10, 20):
        each = [few(model, "exact", pictures) for model in ("quicknet", "bireal18")]
        cells = [
            format_number(mean(row[name] for row in matches))
            for matches in each
            for name in ("new_accuracy", "others_after")
        ]
        lines.append([pictures, *cells])
    others = "the 13 others"
    return table(["photographs of the new kind", "new kind, QuickNet", others, "new kind, Bi-Real-18", others], lines)


def photograph(count: str = "") -> str:
    """Milliseconds to read one of 12 megapixels, of 100; or seconds for so many."""
    hundred = Decimal(rows_where(BENCHMARKS / "photographs.csv", side="32")[0]["our seconds"])
    return format_number(hundred * int(count) / 100, 2) if count else format_number(10 * hundred, 0)
