"""CIFAR-100 in ten steps in the order of classes that the field uses (PyCIL, seed 1993), 2,000 exemplars.

    bitreplay reproduce pycil

20 latents of 1 bit a class, 2 MB in all. Published methods train the whole network in floating point and store
pictures: the figures stand beside theirs, they are not like with like. The set is a re-split of CIFAR-100.
"""

from __future__ import annotations

from run import Run
from tables import Claim, Rows, Table

FULL = Run(data="cifar100", images=None, augment=True, order=1993)
LINES = {"1-bit replay, 20 a class": [FULL.changed(per_class=20)], "BNN+CWR*": [FULL.changed(strategy="cwr")]}
TABLES = [
    Table("Final accuracy:", ["ReAct-18"], LINES),
    Table("Average incremental accuracy:", ["ReAct-18"], LINES, "incremental"),
]
CHARTS: list = []


def claims(rows: Rows) -> list[Claim]:
    return []
