"""Table 1 of the paper: how many weights a network has, and how many lie behind each replay level.

    bitreplay reproduce table1

B are weights of convolutions, NB all other numbers. Counted from the model files; docs/models.md explains the
countings.
"""

from __future__ import annotations

from networks import published
from tables import Claim, Rows, markdown

from bitreplay import table1, zoo

TABLES: list = []
CHARTS: list = []


def found() -> list[table1.Row]:
    return [
        row for row in table1.table1({name: zoo.find(published(name)).graph for name in zoo.names()}) if row.paper_total
    ]


def section(rows: Rows) -> list[str]:
    body = [
        [row.model, f"{row.total:,}", row.replay_layer, f"{row.binary:,}", f"{row.other:,}",
         f"{row.paper_total}, {row.paper_binary}, {row.paper_other}"]
        for row in found()
    ]  # fmt: skip
    return markdown(["model", "weights", "level", "B", "NB", "paper"], body)


def claims(rows: Rows) -> list[Claim]:
    right = [agrees(row) for row in found()]
    both, other = (sum(column) for column in zip(*right, strict=True))
    told = f"total and B of {both} and NB of {other} of {len(right)} rows"
    return [Claim("Table 1: parameters", "nine rows", told, "holds but for Bi-Real-18's NB: see models.md")]


def agrees(row: table1.Row) -> tuple[bool, bool]:
    """The paper's last digit is cut off in some rows and rounded in others."""
    whole = [(row.total, row.paper_total), (row.binary, row.paper_binary)]
    return all(printed in shortened(n, 100_000, "M") for n, printed in whole), row.paper_other in shortened(
        row.other, 1000, "K"
    )


def shortened(number: int, unit: int, letter: str) -> set[str]:
    return {f"{value / 10:.1f}M" if letter == "M" else f"{value}K" for value in (number // unit, round(number / unit))}
