"""How many samples per class: 15 to all 500, or all 1,000, 1-bit latents.

    bitreplay reproduce samples

The paper goes up to 30 and says that the number matters little. CIFAR-10, 500 images per class, codes computed once;
above 30, and with 1,000 images per class, one seed.
"""

from __future__ import annotations

from run import Run
from tables import MODELS, TITLES, Claim, Rows, Table

COUNTS = (15, 20, 30, 100, 500)
TABLES = [
    Table(f"{title}, final accuracy by 1-bit samples per class (1 KiB each):", [TITLES[m] for m in MODELS],
          {str(n): [Run(model=m, strategy=strategy, memory_per_class=n) for m in MODELS] for n in COUNTS}, seeds=1)
    for title, strategy in (("Tail and head learn", "replay"), ("A frozen tail", "frozen-tail"))
] + [
    Table("1,000 images per class, tail and head learn:", [TITLES[m] for m in MODELS],
          {f"{n:,}": [Run(model=m, images=1000, memory_per_class=n) for m in MODELS] for n in (30, 1000)}, seeds=1)
]  # fmt: skip
CHARTS: list = []


def claims(rows: Rows) -> list[Claim]:
    return []
