"""One comparison: ours, a peer, their ratio."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """Smaller is better in both figures; `ratio` = peer / ours. A peer that is absent has none, and `note` says why.

    `least` is the ratio that the project asks of itself, where it asks one.
    """

    question: str
    work: str
    peer: str
    unit: str
    ours: float | None
    theirs: float | None
    least: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.theirs / self.ours if self.ours and self.theirs else None

    def as_dict(self) -> dict[str, Any]:
        holds = None if self.ratio is None or self.least is None else self.ratio >= self.least
        return asdict(self) | {"ratio": self.ratio, "holds": holds}


HEAD = ("work", "peer", "ours", "peer's", "ratio", "at least", "note")


def table(rows: list[Row]) -> str:
    """Text columns for people."""

    def figure(value: float | None, unit: str = "") -> str:
        return "-" if value is None else f"{value:.3g}{unit}" if value < 100 else f"{value:.0f}{unit}"

    cells = [HEAD] + [
        (row.work, row.peer, figure(row.ours, f" {row.unit}"), figure(row.theirs, f" {row.unit}"),
         figure(row.ratio, "x"), figure(row.least, "x"), row.note)
        for row in rows
    ]  # fmt: skip
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
                     for line in cells)  # fmt: skip
