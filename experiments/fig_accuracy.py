"""The paper's accuracy figures: BNN+LR+CWR* against BNN+CWR* after each experience, float, 32, 16 and 8 bits.

    bitreplay reproduce fig_accuracy

Claims: replay is better for every model, data set and bit width; q_b = 8 for all layers brings a notable drop.
CIFAR-10 (2 classes at a time) and CIFAR-100 (10), 30 stored latents per class. Full size, all images cropped and
flipped, at 8/1/16 and in floating point; the other widths with 200 images per class and codes computed once. All at
default gains. On held-out pictures of CIFAR-100 BNN+CWR* gains 2.4 to 3.2 points by a gain of its own and replay up to
1.8 (tuning); replay stays 5 to 7 points ahead.
"""

from __future__ import annotations

from dataclasses import replace

from run import Run
from tables import MODELS, SWEPT, TITLES, Chart, Claim, Rows, Table, span

SETS = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100 (re-split)"}
STRATEGIES = {"replay": "replay", "cwr": "BNN+CWR*"}
WIDTHS = ("float", "32/32/32", "16/16/16", "8/8/8", "8/1/16", "8/1/8")
COLUMNS = [f"{TITLES[m]}, {name}" for m in MODELS for name in STRATEGIES.values()]


def full(data: str, model: str, strategy: str, bits: str = "8/1/16") -> Run:
    return Run(data=data, model=model, strategy=strategy, bits=bits, images=None, augment=True)


def small(model: str, strategy: str, bits: str) -> Run:
    """Where only the head learns there are no latent weights."""
    forward, _, other = bits.split("/") if bits != "float" else ("", "", "")
    head = f"{forward}/1/{other}"
    return Run(model=model, strategy=strategy, bits=head if forward and strategy == "cwr" else bits, images=SWEPT)


FULL = {f"{title}, {bits}": [full(data, m, s, bits) for m in MODELS for s in STRATEGIES]
        for data, title in SETS.items() for bits in ("8/1/16", "float")}  # fmt: skip
SMALL = {bits: [small(m, s, bits) for m in MODELS for s in STRATEGIES] for bits in WIDTHS}
TABLES = [
    Table("Final accuracy at full size, mean and deviation of three seeds (also the order of classes):", COLUMNS, FULL),
    Table("Average incremental accuracy of these runs:", COLUMNS, FULL, "incremental"),
    Table("Forgetting of these runs:", COLUMNS, FULL, "forgetting"),
    Table("Bytes that they keep of what was seen:", COLUMNS, FULL, "memory"),
    Table("CIFAR-10, 200 images per class, codes computed once, final accuracy by bits (q_f/q_b^bin/q_b^non-bin):",
          COLUMNS, SMALL),
]  # fmt: skip
CHARTS = [
    Chart(f"accuracy_{data}", f"{title}, class by class, 8/1/16",
          {f"{TITLES[m]}, {name}": full(data, m, s) for m in MODELS for s, name in STRATEGIES.items()})
    for data, title in SETS.items()
]  # fmt: skip


def claims(rows: Rows) -> list[Claim]:
    pairs = [line[start : start + 2] for line in [*FULL.values(), *SMALL.values()] for start in (0, 2)]
    gaps = rows.differences([ours for ours, _ in pairs], [base for _, base in pairs])
    eight, sixteen, most = ([small(m, "replay", q) for m in MODELS] for q in ("8/8/8", "16/16/16", "32/32/32"))
    drops, gains = rows.differences(sixteen, eight), rows.differences(most, sixteen)
    everywhere = Claim("Replay is better than BNN+CWR* everywhere", "all settings")
    if gaps:
        measured = f"{sum(gap > 0 for gap in gaps)} of {len(gaps)} settings, by {span(gaps, '.1f')} points"
        everywhere = replace(
            everywhere, ours=measured, verdict="holds" if min(gaps) > 0 else "does not hold everywhere"
        )
    eight_bits = Claim("q_b = 8 for all layers: a notable drop; 16 and 32 hold", "a notable drop")
    if drops:
        measured = f"8 bits end {span(drops, '.2f')} points below 16"
        measured += f", 32 bits {span(gains, '+.2f')} from 16{rows.seeds(most)}" if gains else ""
        verdict = "better: 8 bits are enough" if max(drops) <= 1 else "holds"
        eight_bits = replace(eight_bits, ours=measured, verdict=verdict)
    return [everywhere, eight_bits]
