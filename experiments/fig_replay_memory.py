"""The paper's figure on replay memory: latents of 1 bit against more bits, 15, 20 and 30 samples a class.

    bitreplay reproduce fig_replay_memory

Claims: 1 bit is 32 times smaller than float and within about a point; 15, 20 or 30 samples a class within a point.
CIFAR-10, 500 images a class, codes computed once. At 8/1/16 the backbone's sums have 8 bits, so 8 bits a latent are
all that there is. Float: a backbone and a tail of 32 bits (24 significant, as float32), latents of 32 bits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from run import Run
from tables import MODELS, TITLES, Claim, Rows, Table

FLOAT = {"bits": "32/1/32", "code_bits": 32}
COUNTS = (15, 20, 30)
COLUMNS = [TITLES[m] for m in MODELS]


def line(**fields: Any) -> list[Run]:
    return [Run(model=m).changed(**fields) for m in MODELS]


def tables(title: str, **tail: Any) -> list[Table]:
    return [
        Table(f"{title}, equal samples, 30 a class:", COLUMNS,
              {"1 bit, 30 KiB a class": line(**tail), "2 bits": line(code_bits=2, **tail),
               "4 bits": line(code_bits=4, **tail), "8 bits": line(code_bits=8, **tail),
               "float": line(**FLOAT, **tail)}),
        Table(f"{title}, equal bytes, 30 KiB a class (8 bits and float take 32 KiB):", COLUMNS,
              {"30 of 1 bit": line(**tail), "15 of 2 bits": line(code_bits=2, per_class=15, **tail),
               "8 of 4 bits": line(code_bits=4, per_class=8, **tail),
               "4 of 8 bits": line(code_bits=8, per_class=4, **tail),
               "1 of float": line(**FLOAT, per_class=1, **tail)}),
        Table(f"{title}, samples a class:", COLUMNS,
              {f"{n} of {code}": line(per_class=n, **more, **tail)
               for code, more in (("1 bit", {}), ("8 bits", {"code_bits": 8})) for n in COUNTS}),
    ]  # fmt: skip


TABLES = tables("Tail and head learn") + tables("Replay with a frozen tail (a control)", strategy="frozen-tail")
CHARTS: list = []


def claims(rows: Rows) -> list[Claim]:
    one_bit = Claim("1-bit latents: 32 times smaller than float, within a point", "about 1")
    costs = differences(rows, line(**FLOAT), line())
    if costs:
        verdict = "holds" if max(costs) <= 1 else "nearly" if max(costs) <= 1.5 else "does not hold"
        told = f"1 bit costs {min(costs):.1f} to {max(costs):.1f} points at 30 a class"
        one_bit = replace(one_bit, ours=told, verdict=verdict)
    bytes_ = Claim("(not in the paper) float and 1 bit in the same bytes", "-")
    gains = differences(rows, line(), line(**FLOAT, per_class=1))
    if gains:
        told = f"30 of 1 bit end {min(gains):.1f} to {max(gains):.1f} points above 1 of float"
        bytes_ = replace(bytes_, ours=told, verdict="1 bit is better" if min(gains) > 0 else "float is better")
    few = [
        samples(rows, Claim("15, 20 or 30 samples a class: within a point", "1"), "replay"),
        samples(rows, Claim("the same with a frozen tail (a control)", "1"), "frozen-tail"),
    ]
    return [one_bit, bytes_, *few]


def samples(rows: Rows, claim: Claim, strategy: str) -> Claim:
    spans = [[rows.of(Run(model=m, strategy=strategy, per_class=n)) for n in COUNTS] for m in MODELS]
    widths = [max(f.final for f in span) - min(f.final for f in span) for span in spans if all(span)]
    if not widths:
        return claim
    told = f"{min(widths):.1f} to {max(widths):.1f} points between 15 and 30"
    return replace(claim, ours=told, verdict="holds" if max(widths) <= 1 else "does not hold")


def differences(rows: Rows, ours: list[Run], others: list[Run]) -> list[float]:
    """Final accuracy of one line less that of another, where both have rows."""
    pairs = [(rows.of(run), rows.of(other)) for run, other in zip(ours, others, strict=True)]
    return [run.final - other.final for run, other in pairs if run and other]
