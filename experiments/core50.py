"""CORe50 itself, for whoever has its images: QuickNet and QuickNetLarge, NC in 9 experiences, NI session by session.

    BITREPLAY_DATA=DIR bitreplay reproduce core50

The paper's figures on CORe50: replay is better than BNN+CWR* at every width; 15, 20 and 30 samples per class; widths
of the backward pass. Its images are not at hand here, so no row was made; `sessions` has a stand-in. `reproduce all`
leaves it out. 30 stored per object (LR_size 1,500), the test sessions are 3, 7 and 10.
"""

from __future__ import annotations

from run import Run
from tables import TITLES, Chart, Claim, Rows, Table, span

MODELS = ("quicknet", "quicknet_large")
STRATEGIES = {"replay": "1-bit replay", "cwr": "BNN+CWR*", "exact": "exact sums"}
WIDTHS = ("float", "32/32/32", "16/16/16", "8/8/8", "8/4/16", "8/1/16")


def usual(model: str, strategy: str = "replay", **fields: object) -> Run:
    return Run(data="core50", model=model, strategy=strategy, images=None).changed(**fields)


TABLES = [
    Table("NC, final accuracy, default gains:", [TITLES[m] for m in MODELS],
          {name: [usual(m, s) for m in MODELS] for s, name in STRATEGIES.items()}),
    Table("NI, session by session:", [TITLES[m] for m in MODELS],
          {name: [usual(m, s, scenario="ni") for m in MODELS] for s, name in STRATEGIES.items()}),
    Table("NC, replay by bits (q_f/q_b^bin/q_b^non-bin):", [TITLES[m] for m in MODELS],
          {bits: [usual(m, bits=bits) for m in MODELS] for bits in WIDTHS}),
    Table("NC, replay, 1-bit samples per class:", [TITLES[m] for m in MODELS],
          {str(n): [usual(m, memory_per_class=n) for m in MODELS] for n in (15, 20, 30)}),
]  # fmt: skip
CHARTS = [Chart("core50", "CORe50, QuickNet", {name: usual("quicknet", s) for s, name in STRATEGIES.items()})]


def claims(rows: Rows) -> list[Claim]:
    """None until somebody has run it."""
    gains = rows.differences([usual(m) for m in MODELS], [usual(m, "cwr") for m in MODELS])
    if not gains:
        return []
    measured = f"{span(gains, '+.1f')} points"
    return [Claim("CORe50: replay is better than BNN+CWR*", "better", measured, "holds" if min(gains) > 0 else "not")]
