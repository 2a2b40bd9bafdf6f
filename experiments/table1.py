"""Table 1 of the paper: how many weights a network has, and how many lie behind each replay layer.

    bitreplay reproduce table1

B are weights of convolutions, NB all other numbers. Counted from the model files; docs/models.md explains how.
"""

from __future__ import annotations

from networks import published
from table1_counts import Row, count_all
from tables import Claim, Rows, markdown

from bitreplay import zoo

TABLES: list = []
CHARTS: list = []


def paper_rows() -> list[Row]:
    """The rows that the paper has."""
    graphs = {name: zoo.find(published(name)).graph for name in zoo.names()}
    return [row for row in count_all(graphs) if row.paper_total]


def section(rows: Rows) -> list[str]:
    body = [
        [row.model, f"{row.total:,}", row.replay_layer, f"{row.binary:,}", f"{row.other:,}",
         f"{row.paper_total}, {row.paper_binary}, {row.paper_other}"]
        for row in paper_rows()
    ]  # fmt: skip
    return markdown(["model", "weights", "replay layer", "B", "NB", "paper"], body)


def claims(rows: Rows) -> list[Claim]:
    right = [agrees(row) for row in paper_rows()]
    both, other = (sum(column) for column in zip(*right, strict=True))
    agreement = f"total and B of {both} and NB of {other} of {len(right)} rows"
    return [Claim("Table 1: parameters", "nine rows", agreement, "holds but for Bi-Real-18's NB: see models.md")]


def agrees(row: Row) -> tuple[bool, bool]:
    """Whether total and B agree, and whether NB does. The paper's last digit is cut off or rounded."""
    in_millions = [(row.total, row.paper_total), (row.binary, row.paper_binary)]
    return all(printed in shortened(n, 100_000, "M") for n, printed in in_millions), row.paper_other in shortened(
        row.other, 1000, "K"
    )


def shortened(number: int, unit: int, letter: str) -> set[str]:
    return {f"{value / 10:.1f}M" if letter == "M" else f"{value}K" for value in (number // unit, round(number / unit))}
