"""The replay level: (4, 4, 512) against (8, 8, 256), which is twice as many bits and a longer tail.

    bitreplay reproduce levels

CIFAR-10, 200 images a class, codes computed once, 30 stored a class: 1 KiB against 2 KiB a sample.
"""

from __future__ import annotations

from run import Run
from tables import SWEPT, Claim, Rows, Table

TABLES = [
    Table("Final accuracy:", ["(4, 4, 512)", "(8, 8, 256)"],
          {"ReAct-18": [Run(images=SWEPT), Run(images=SWEPT, level="add_11")],
           "Bi-Real-18": [Run(model="bireal18", images=SWEPT, level=level) for level in (None, "add_8")]}),
]  # fmt: skip
CHARTS: list = []


def claims(rows: Rows) -> list[Claim]:
    return []
