"""Table 2 of the paper: forward and backward of QuickNet against MobileNetV2, one 224x224 image.

    python -m benchmarks.bench         (its rows are in benchmarks/results)
    python -m benchmarks.arm_peer      (on ARM)

Claim: on a Raspberry Pi QuickNet is 2.1 times as fast forward and 2.4 times backward, binary weights learning at 8
bits (8/8/16), by the table's milliseconds; its column of speed-ups has 2.0 (Raspberry Pi 3B) and 2.2 (4B). The paper's
MobileNetV2 is frozen at 8 bits up to the replay layer and floating point above it, so forward its own comparison is
with int8. Boards were not at hand: these are ratios on one core of a server, peers in the same run, QuickNet up to
its replay layer against MobileNetV2 up to the block of the same size, tail against tail. Above 1 QuickNet is faster.
How long a step at 8/8/16 takes depends on how many latent weights move, so on the learning rate; its peer is PyTorch
with its defaults (at 8/1/16 PyTorch's best setting takes 1 to 2 % less time than these). Forward against int8 the rows
are of a Zen 5 and a later core than the others, which are of a Zen 4; in the columns of AVX2 ONNX Runtime is held to
AVX2 too (benchmarks/bench/held_to_avx2.py). For ARM instructions are counted under qemu-user, of ours and of the peers'
aarch64 wheels: not time, but the work of a board.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tables import Claim, Rows, markdown

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"
SETS = {"AVX-512": "avx512", "AVX2": "avx2"}
ARM = {
    "cortex-a72": "Cortex-A72 (ARMv8.0)",
    "cortex-a76": "Cortex-A76 (dot products)",
    "max": "qemu's max (scalable vectors, matrix products)",
}
SPEED_UPS = "its column of speed-ups: 2.0 and 2.2"
FORWARD, BACKWARD = (f"{times} times by its milliseconds ({SPEED_UPS})" for times in ("2.1", "2.4"))
FROZEN = "should improve significantly"
TABLES: list = []
CHARTS: list = []


def rows_of(instructions: str) -> list[dict]:
    """Of a comparison that both runs have, the row of the later one, `whole`."""
    files = [RESULTS / f"bench_{run}_{SETS[instructions]}.json" for run in ("steps", "whole")]
    rows = {(row["work"], row["peer"]): row for file in files for row in json.loads(file.read_text())["rows"]}
    return [row for (work, peer), row in rows.items() if "QuickNet" in work and "MobileNetV2" in peer]


def section(rows: Rows) -> list[str]:
    body = [
        [
            f"{row['work']}, {name}",
            row["peer"],
            f"{row['ours']:.2f}",
            f"{row['theirs']:.2f}",
            describe_ratio(row["ratio"]),
        ]
        for name in SETS
        for row in rows_of(name)
    ]
    return [*markdown(["QuickNet", "peer", "ours, ms", "peer's, ms", "ours is"], body), *arm()]


def describe_ratio(ratio: float) -> str:
    """In words, good or bad."""
    return f"{ratio:.2f} times as fast" if ratio >= 1 else f"slower, {ratio:.2f} times as fast"


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


def times(ratio: float) -> str:
    return f"{ratio:.2f} times as many" if ratio >= 1 else f"fewer, {ratio:.2f} times as many"


def arm() -> list[str]:
    """Instructions, QuickNet up to the replay layer against MobileNetV2 up to the matching block, tail against tail."""
    comparisons = sorted(counted(), key=lambda row: list(ARM).index(row[2]))
    body = [
        [f"{work}, {ARM[cpu]}", peer, f"{ours / 1e6:.1f}", f"{theirs / 1e6:.1f}", times(theirs / ours)]
        for work, peer, cpu, ours, theirs in comparisons
    ]
    table = markdown(["QuickNet", "peer", "ours, M instructions", "peer's, M", "the peer takes"], body)
    return ["Instructions on 64-bit ARM:", "", *table]


def claims(rows: Rows) -> list[Claim]:
    """A line a part on x86, and one on the ARM core of the paper's Raspberry Pi 4."""
    return [
        timed("forward", "Table 2, forward: QuickNet against MobileNetV2 in int8", FORWARD, 2.1, "int8"),
        in_instructions("up to", "the same in instructions of a Raspberry Pi 4's core", FORWARD, 2.1, "int8"),
        timed("forward", "(not in the paper) the same against floating point", "-", 1.0, "PyTorch"),
        timed("8/8/16", "Table 2, backward at 8/8/16", BACKWARD, 2.4),
        in_instructions("8/8/16", "the same in instructions of a Raspberry Pi 4's core", BACKWARD, 2.4),
        timed("8/1/16", "backward with frozen binary weights, 8/1/16", FROZEN, 2.4),
        in_instructions("8/1/16", "the same in instructions of a Raspberry Pi 4's core", FROZEN, 2.4),
    ]


def timed(part: str, text: str, theirs: str, wanted: float, by: str = "") -> Claim:
    """Against each peer whose name has `by` in it: the ratios on both instruction sets."""
    ratios: dict[str, list[str]] = {}
    for name in SETS:
        for row in rows_of(name):
            if part in row["work"] and by in row["peer"]:
                rate = row["work"].partition("rate ")[2]
                peer = row["peer"].rpartition(", ")[2] + (f" at rate {rate}" if rate else "")
                ratios.setdefault(peer, []).append(f"{row['ratio']:.2f}")
    ours = "; ".join(f"{peer}: {' and '.join(each)}" for peer, each in ratios.items())
    every = [float(ratio) for each in ratios.values() for ratio in each]
    found, *less = verdict(every, wanted).split(", ")
    found = ", ".join([f"{found} on x86", *less])
    if len(ratios) == 1 and min(every) < 1 < max(every):
        sides = (f"{'behind' if ratio < 1 else 'ahead'} on {name}" for name, ratio in zip(SETS, every, strict=True))
        found = f"does not hold on x86: {', '.join(sides)}"
    return Claim(text, theirs, f"how many times as fast, {' and '.join(SETS)}: {ours}", found)


def in_instructions(part: str, text: str, theirs: str, wanted: float, by: str = "") -> Claim:
    ratios = {peer.rpartition(", ")[2]: count / ours for work, peer, cpu, ours, count in counted()
              if part in work and by in peer and cpu == "cortex-a72"}  # fmt: skip
    ours = "; ".join(f"{peer}: {ratio:.2f}" for peer, ratio in ratios.items())
    others = [f"{count / ours_there:.2f} on {ARM[cpu]}" for work, peer, cpu, ours_there, count in counted()
              if part in work and by in peer and cpu != "cortex-a72" and count < ours_there]  # fmt: skip
    behind = f"; behind on newer cores: {', '.join(others)}" if others else ""
    return Claim(text, theirs, f"the peer's over ours: {ours}{behind}", verdict(list(ratios.values()), wanted))


def verdict(ratios: list[float], wanted: float) -> str:
    if min(ratios) < 1:
        return "holds against some" if max(ratios) > 1 else "does not hold"
    return "holds" if min(ratios) >= wanted else "ahead, by less"
