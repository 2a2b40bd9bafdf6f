"""A table as Rich draws it into a file, without Rich, which takes 0.03 s to load.

Only what needs no measuring is drawn here: ASCII, one line a cell, within the width. Rich draws the rest, and whatever
goes to a terminal (`show.say`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Cells without control characters. The first `text` columns are text, the others are figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text: int

    def drawn(self, width: int) -> str | None:
        """The table in lines of at most `width` characters; None where it is left to Rich."""
        cells = (self.columns, *self.rows)
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        inner = sum(widths) + 3 * len(widths) - 1
        plain = all(cell.isascii() and cell.isprintable() and cell == cell.strip() for row in cells for cell in row)
        if not plain or not self.title.isascii() or not len(self.title) <= inner + 2 <= width:
            return None
        rules = ["━" * (size + 2) for size in widths], ["─" * (size + 2) for size in widths]
        lines = [self.title.ljust(inner + 2)] if self.title else []
        lines += [f"┏{'┳'.join(rules[0])}┓", self._line("┃", self.columns, widths), f"┡{'╇'.join(rules[0])}┩"]
        lines += [self._line("│", row, widths) for row in self.rows] + [f"└{'┴'.join(rules[1])}┘"]
        return "".join(f"{line}\n" for line in lines)

    def _line(self, bar: str, row: tuple[str, ...], widths: list[int]) -> str:
        sides = [str.ljust if number < self.text else str.rjust for number in range(len(row))]
        cells = [side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)]
        return f"{bar} {f' {bar} '.join(cells)} {bar}"
