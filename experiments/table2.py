"""Table 2 of the paper: forward and backward of QuickNet against MobileNetV2, one 224x224 image.

    bitreplay bench                    (its rows are in benchmarks/results)
    python benchmarks/arm_peer.py      (on ARM)

Claim: on a Raspberry Pi QuickNet is 2.1 times as fast forward and 2.4 times backward, binary weights learning at 8
bits (8/8/16). Boards were not at hand: these are ratios on one core of a server, peers in the same run, QuickNet up to
its level against MobileNetV2 up to the block of the same size, tail against tail. A ratio above 1 means that QuickNet
is faster. How long a step at 8/8/16 takes depends on how many latent weights move, so on the rate. For ARM instructions
are counted under qemu-user, of ours and of the peers' own aarch64 wheels: no time, but what a board would have to do.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tables import Claim, Rows, markdown

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"
SETS = {"AVX-512": "bench_steps_avx512.json", "AVX2": "bench_steps_avx2.json"}
ARM = {
    "cortex-a72": "Cortex-A72 (ARMv8.0)",
    "cortex-a76": "Cortex-A76 (dot products)",
    "max": "qemu's max (scalable vectors, matrix products)",
}
TABLES: list = []
CHARTS: list = []


def found(instructions: str) -> list[dict]:
    rows = json.loads((RESULTS / SETS[instructions]).read_text())["rows"]
    return [row for row in rows if "QuickNet" in row["work"] and "MobileNetV2" in row["peer"]]


def section(rows: Rows) -> list[str]:
    body = [
        [f"{row['work']}, {name}", row["peer"], f"{row['ours']:.2f}", f"{row['theirs']:.2f}", f"{row['ratio']:.2f}"]
        for name in SETS
        for row in found(name)
    ]
    table = markdown(["QuickNet", "peer", "ours, ms", "peer's, ms", "ratio"], body)
    return [*table, "In words:", "", *words(), "", *arm()]


def counted() -> list[tuple[str, str, str, int, int]]:
    """(QuickNet's part, the peer, CPU, our instructions, the peer's): its settings of one number type, the best."""
    with (RESULTS / "arm_peer.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    best: dict[tuple[str, str, str], int] = {}
    for row in rows:
        key = (row["cpu"], row["work"], f"{row['by']} {row['setting'].split()[0]}")
        best[key] = min(int(row["instructions"]), best.get(key, int(row["instructions"])))
    return [
        (ours, f"{theirs}, {name}", cpu, count, best[cpu, theirs, name])
        for (cpu, ours, _), count in best.items()
        for same, theirs, name in best
        if ours.startswith("QuickNet") and theirs.startswith("MobileNetV2")
        if same == cpu and ("step" in ours) == ("step" in theirs)
    ]


def arm() -> list[str]:
    """Instructions, QuickNet up to the level against MobileNetV2 up to the matching block, tail against tail."""
    found = sorted(counted(), key=lambda row: list(ARM).index(row[2]))
    body = [
        [f"{work}, {ARM[cpu]}", peer, f"{ours / 1e6:.1f}", f"{theirs / 1e6:.1f}", f"{theirs / ours:.2f}"]
        for work, peer, cpu, ours, theirs in found
    ]
    told = [
        f"- {ARM[cpu]}, {work}: {peer} takes {'' if theirs >= ours else 'fewer, '}{theirs / ours:.2f} times as many."
        for work, peer, cpu, ours, theirs in found
    ]
    table = markdown(["QuickNet", "peer", "ours, M instructions", "peer's, M", "ratio"], body)
    return ["Instructions on 64-bit ARM:", "", *table, "In words:", "", *told, ""]


def words() -> list[str]:
    """Every ratio as a sentence, good or bad."""
    told = []
    for name in SETS:
        for row in found(name):
            fast = f"{row['ratio']:.2f} times as fast as" if row["ratio"] >= 1 else f"slower, {row['ratio']:.2f} times"
            told.append(f"- {name}, {row['work']}: {fast} {row['peer']}.")
    return told


def claims(rows: Rows) -> list[Claim]:
    return [
        claim("forward", "Table 2, forward: QuickNet against MobileNetV2", "2.1 times", 2.1),
        claim("8/8/16", "Table 2, backward at 8/8/16", "2.4 times", 2.4),
        claim("8/1/16", "backward with frozen binary weights, 8/1/16", "faster still", 2.4),
    ]


def claim(part: str, text: str, theirs: str, wanted: float) -> Claim:
    told, ratios = [], []
    for name in SETS:
        for row in found(name):
            if part in row["work"]:
                rate = row["work"].partition("rate ")[2]
                peer = row["peer"].rpartition(", ")[2] + (f" (rate {rate})" if rate else "")
                told.append(f"{row['ratio']:.2f} times {peer}, {name}")
                ratios.append(row["ratio"])
    verdict = "holds" if min(ratios) >= wanted else "faster, by less" if min(ratios) >= 1 else "against some"
    return Claim(text, theirs, "; ".join(told), verdict)
