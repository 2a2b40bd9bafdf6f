"""One comparison: ours, a peer, their ratio."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """Smaller is better in both figures; `ratio` = peer / ours. A peer that is absent has none, and `note` says why.

    `target` is the ratio that the project aims at, where it has one.
    """

    question: str
    work: str
    peer: str
    unit: str
    ours: float | None
    theirs: float | None
    target: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.theirs / self.ours if self.ours and self.theirs else None

    @property
    def holds(self) -> bool | None:
        """Whether the ratio reaches the target; None without a target or a ratio."""
        return None if self.ratio is None or self.target is None else self.ratio >= self.target

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio, "holds": self.holds}


# Columns and their minimum widths, so that rows can be printed before the last is known.
COLUMNS = {"work": 55, "peer": 30, "ours": 9, "peer's": 9, "ratio": 6, "target": 8, "note": 0}


def head() -> str:
    return _columns(*COLUMNS)


def line(row: Row) -> str:
    """One row for people."""

    def figure(value: float | None, unit: str = "") -> str:
        return "-" if value is None else f"{value:.3g}{unit}" if value < 100 else f"{value:.0f}{unit}"

    return _columns(row.work, row.peer, figure(row.ours, f" {row.unit}"), figure(row.theirs, f" {row.unit}"),
                    figure(row.ratio, "x"), figure(row.target, "x"), row.note)  # fmt: skip


def _columns(*cells: str) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(cells, COLUMNS.values(), strict=True)).rstrip()
