"""CIFAR-100 in ten steps in the order of classes that the field uses (PyCIL, seed 1993), 2,000 exemplars.

    bitreplay reproduce pycil

20 latents of 1 bit per class, 2 MB in all; 200 of 500 images per class, codes computed once. Published methods train
the whole network in floating point on all images and store pictures: the figures stand beside theirs, they are not like
with like. Continual-learning-baselines reports 48 (iCaRL) and 32 (replay) as final accuracies of Split CIFAR-100. The
set here is a re-split of CIFAR-100.
"""

from __future__ import annotations

from run import Run
from tables import SWEPT, Claim, Rows, Table

FEW = Run(data="cifar100", images=SWEPT, order=1993)
LINES = {
    "1-bit replay, 20 per class": [FEW.changed(memory_per_class=20)],
    "BNN+CWR*": [FEW.changed(strategy="cwr")],
    "exact sums": [FEW.changed(strategy="exact")],
    "exact sums, all 500 images": [FEW.changed(strategy="exact", images=None)],
}
TABLES = [
    Table("Final accuracy:", ["ReAct-18"], LINES),
    Table("Average incremental accuracy:", ["ReAct-18"], LINES, "incremental"),
]
CHARTS: list = []


def claims(rows: Rows) -> list[Claim]:
    return []
