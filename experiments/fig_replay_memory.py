"""The paper's figure on replay memory: latents of 1 bit against more bits, 15, 20 and 30 samples per class.

    bitreplay reproduce fig_replay_memory

Claims: 1 bit is 32 times smaller than float, with a minimal gap in accuracy; 15, 20 or 30 samples per class are within
a point.
CIFAR-10, codes computed once: 200 images per class to compare widths, 500 to compare numbers of samples. At 8/1/16 the
backbone's sums have 8 bits, so 8 bits a latent are all that there is. Float: a backbone and a tail of 32 bits (24
significant, as float32), latents of 32 bits; nothing is rounded to 8 bits anywhere. The control has no float.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from run import Run
from tables import MODELS, SWEPT, TITLES, Claim, Rows, Table, span

FLOAT: dict[str, Any] = {"bits": "32/1/32", "latent_bits": 32}
COUNTS = (15, 20, 30)
COLUMNS = [TITLES[m] for m in MODELS]


def line(images: int = SWEPT, **fields: Any) -> list[Run]:
    return [Run(model=m, images=images).changed(**fields) for m in MODELS]


def tables(title: str, real: bool, **tail: Any) -> list[Table]:
    """With `real`, latents in floating point too."""
    same = {"float": line(**FLOAT, **tail)} if real else {}
    one = {"1 of float": line(**FLOAT, memory_per_class=1, **tail)} if real else {}
    return [
        Table(f"{title}, equal samples, 30 per class:", COLUMNS,
              {"1 bit, 30 KiB per class": line(**tail), "2 bits": line(latent_bits=2, **tail),
               "4 bits": line(latent_bits=4, **tail), "8 bits": line(latent_bits=8, **tail), **same}),
        Table(f"{title}, equal bytes, 30 KiB per class (8 bits{' and float' if real else ''} take 32 KiB):", COLUMNS,
              {"30 of 1 bit": line(**tail), "15 of 2 bits": line(latent_bits=2, memory_per_class=15, **tail),
               "8 of 4 bits": line(latent_bits=4, memory_per_class=8, **tail),
               "4 of 8 bits": line(latent_bits=8, memory_per_class=4, **tail), **one}),
        Table(f"{title}, samples per class, of 500 images:", COLUMNS,
              {f"{n} of 1 bit": line(500, memory_per_class=n, **tail) for n in COUNTS}),
    ]  # fmt: skip


TABLES = tables("Tail and head learn", True)
TABLES += tables("Replay with a frozen tail (a control)", False, strategy="frozen-tail")
CHARTS: list = []


def claims(rows: Rows) -> list[Claim]:
    one_bit = Claim("1-bit latents: 32 times smaller than float", "a minimal accuracy gap")
    costs = rows.differences(line(**FLOAT), line())
    if costs:
        verdict = "holds" if max(costs) <= 1 else f"size holds; a gap of up to {max(costs):.1f} points"
        measured = f"32 times smaller by construction; costs {span(costs, '.1f')} points at 30 per class"
        one_bit = replace(one_bit, ours=measured, verdict=verdict)
    bytes_ = Claim("(not in the paper) float and 1 bit in the same bytes", "-")
    gains = rows.differences(line(), line(**FLOAT, memory_per_class=1))
    if gains:
        measured = f"30 of 1 bit end {span(gains, '.1f')} points above 1 of float"
        bytes_ = replace(bytes_, ours=measured, verdict="1 bit is better" if min(gains) > 0 else "float is better")
    few = [
        samples(rows, Claim("15, 20 or 30 samples per class: within a point", "within 1 %"), "replay"),
        samples(rows, Claim("the same with a frozen tail (a control)", "-"), "frozen-tail"),
    ]
    return [one_bit, bytes_, *few]


def samples(rows: Rows, claim: Claim, strategy: str) -> Claim:
    lines = {n: line(500, strategy=strategy, memory_per_class=n) for n in COUNTS}
    measured, verdict = fewer_samples(rows, lines)
    return replace(claim, ours=measured, verdict=f"{verdict}, with 500 images per class") if measured else claim


def fewer_samples(rows: Rows, lines: dict[int, list[Run]]) -> tuple[str, str]:
    """How far fewer samples per class end below the most, in words, and what that says; nothing without rows."""
    *fewer, most = lines
    costs = {n: rows.differences(lines[most], lines[n]) for n in fewer}
    if not all(costs.values()):
        return "", ""
    parts = [f"{n} end {span(points, '.1f')} points below {most}" for n, points in costs.items()]
    within = [str(n) for n, points in costs.items() if max(points) <= 1]
    verdict = "holds" if len(within) == len(fewer) else f"holds for {', '.join(within)}" if within else "does not hold"
    return ", ".join(parts) + rows.seeds(run for n in fewer for run in lines[n]), verdict
