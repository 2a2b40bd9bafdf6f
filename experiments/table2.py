"""Table 2 of the paper: forward and backward of QuickNet against MobileNetV2, one 224x224 image.

    bitreplay bench            (its rows are in benchmarks/results)

Claim: on a Raspberry Pi QuickNet is 2.1 times as fast forward and 2.4 times backward, binary weights learning at 8
bits (8/8/16). Boards were not at hand: these are ratios on one core of a desktop processor, peers in the same run,
each up to its level against up to its block, tail against tail. A ratio above 1 means that QuickNet is faster.
"""

from __future__ import annotations

import json
from pathlib import Path

from tables import Claim, Rows, markdown

BENCH = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "bench_avx512.json"
TABLES: list = []
CHARTS: list = []


def found() -> list[dict]:
    rows = json.loads(BENCH.read_text())["rows"]
    return [row for row in rows if "QuickNet" in row["work"] and "MobileNetV2" in row["peer"]]


def section(rows: Rows) -> list[str]:
    body = [[r["work"], r["peer"], f"{r['ours']:.2f}", f"{r['theirs']:.2f}", f"{r['ratio']:.2f}"] for r in found()]
    return [*markdown(["QuickNet", "peer", "ours, ms", "peer's, ms", "ratio"], body), "In words:", "", *words(), ""]


def words() -> list[str]:
    """Every ratio as a sentence, good or bad."""
    told = []
    for row in found():
        times = f"{row['ratio']:.2f} times as fast as" if row["ratio"] >= 1 else f"slower, {row['ratio']:.2f} times"
        told.append(f"- {row['work']}: {times} {row['peer']}.")
    return told


def claims(rows: Rows) -> list[Claim]:
    return [
        claim("forward", "Table 2, forward: QuickNet against MobileNetV2", "2.1 times"),
        claim("8/8/16", "Table 2, backward at 8/8/16", "2.4 times"),
        claim("8/1/16", "backward with frozen binary weights, 8/1/16", "faster still"),
    ]


def claim(part: str, text: str, theirs: str) -> Claim:
    ratios = {row["peer"].removeprefix("MobileNetV2, "): row["ratio"] for row in found() if part in row["work"]}
    told = ", ".join(f"{ratio:.2f} times {peer}" for peer, ratio in ratios.items())
    verdict = "holds" if min(ratios.values()) >= 2 else "does not hold" if max(ratios.values()) < 1 else "against some"
    return Claim(text, theirs, told, verdict)
