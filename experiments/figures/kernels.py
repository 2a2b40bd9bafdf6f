"""docs/kernels.md's figures."""

from __future__ import annotations

import importlib
import sys
from decimal import Decimal

from figures.committed import BENCHMARKS, Row, bench, found, only_row, rows, table, three, told

PAGE = "docs/kernels.md"
STEPS = {"avx512": "bench_steps_avx512.json", "avx2": "bench_steps_avx2.json"}
EARLIER = "bench_avx512.json"
WORDS = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
FORWARD = "Bi-Real-18 forward, one 32x32 image"
FROZEN = "tail step of 32, binary weights frozen"
TRAINED = "tail step of 32, 8-bit weights trained"


def _beside_torch() -> list[Row]:
    """Those with a bar, but for PyTorch's best setting, which the text has."""
    own = rows(BENCHMARKS / STEPS["avx512"])
    return [row for row in own if row["least"] is not None and row["peer"] != "best PyTorch"]


def peers() -> str:
    lines = []
    for row in _beside_torch():
        line = [row["work"], row["peer"]]
        for file in STEPS.values():
            own = bench(file, row["work"], row["peer"])
            line += [f"{three(own['ours'])} ms", f"{three(own['theirs'])} ms", told(own["ratio"], 2), f"{own['least']}"]
        lines.append(line)
    return table(
        ["work", "peer", "AVX-512: ours", "peer's", "ratio", "asked", "AVX2: ours", "peer's", "ratio", "asked"], lines
    )


def reached() -> str:
    held = {path: [row["holds"] for row in rows(BENCHMARKS / file) if row["least"]] for path, file in STEPS.items()}
    asked, (first, second) = len(held["avx2"]), (WORDS[each.count(True)] for each in held.values())
    return f"of the {WORDS[asked]} ratios asked for, AVX-512 reaches {first} and AVX2 {second}"


def shown() -> str:
    return f"{WORDS[len(_beside_torch())].title()} of the"


def best(path: str) -> str:
    """PyTorch in its best setting: the forward pass, the frozen step of 32, weights trained."""
    file = EARLIER if path == "compiled" else STEPS[path]
    first, second, third = (told(bench(file, work, "best PyTorch")["ratio"]) for work in (FORWARD, FROZEN, TRAINED))
    if path == "avx512":
        return f"{first} (forward), {second} (frozen step of 32) and {third} (weights trained)"
    return f"{first}, {second} and {third}"


def mobilenet(path: str) -> str:
    row = only_row([row for row in rows(BENCHMARKS / STEPS[path]) if row["peer"].endswith("12, best PyTorch")])
    setting = " compiled with bf16" if "bf16" in row["note"] else ""
    return f"{told(row['theirs'])} ms{setting}, {told(row['ratio'], 2)} times"


def _larq(what: str) -> Decimal:
    return Decimal(only_row(found(BENCHMARKS / "beside_larq.csv", what=what))["milliseconds"])


def larq() -> str:
    theirs = min(_larq(row["what"]) for row in rows(BENCHMARKS / "beside_larq.csv") if row["what"].startswith("Larq"))
    avx2, avx512 = _larq("bitreplay, avx2"), _larq("bitreplay, avx512")
    times = f"{told(theirs / avx2)} and {told(theirs / avx512)} times"
    return f"{avx2} ms on AVX2 and {avx512} ms on AVX-512 against {told(theirs)} ms in its best setting, {times}"


def threads() -> str:
    row = only_row(found(BENCHMARKS / EARLIER, question="threads"))
    return f"{told(row['ours'], 2)} ms on two threads, {told(row['theirs'], 2)} ms in two processes"


def memory() -> str:
    row = only_row(found(BENCHMARKS / EARLIER, question="memory"))
    return f"{told(row['ours'])} MiB above the process's base where PyTorch takes {told(row['theirs'])} MiB"


def minibatches() -> str:
    """Microseconds a sample."""
    own = found(BENCHMARKS / EARLIER, question="minibatch")
    sizes = [row["work"].split()[3].strip(",") for row in own]
    return table(["minibatch", *sizes], [["in blocks of eight", *(told(1000 * row["ours"], 0) for row in own)]])


def limits() -> str:
    sys.path.append(str(BENCHMARKS.parent))
    return "\n".join(importlib.import_module("limits").table())


def _arm(model: str, part: str, path: str, operation: str = "together") -> Decimal:
    row = only_row(found(BENCHMARKS / "arm_instructions.csv", model=model, part=part, operation=operation))
    return Decimal(row[path]) / 10**6


def arm(model: str, part: str, path: str) -> str:
    """Millions of instructions."""
    return three(_arm(model, part, path))


def less(model: str, part: str, before: str) -> str:
    """In percent of what version 0.1 took, in millions."""
    return told(100 - 100 * _arm(model, part, "neon") / Decimal(before), 0)


def arm_part(model: str, part: str, path: str, operation: str) -> str:
    value = _arm(model, part, path, operation)
    return told(value, 0 if value >= 100 else 1) + " M"


def _peer(work: str, by: str, setting: str, cpu: str) -> str:
    """The fewest instructions of the settings whose names begin so."""
    own = [row for row in found(BENCHMARKS / "arm_peer.csv", cpu=cpu) if row["work"].startswith(work)
           and row["by"].startswith(by) and row["setting"].startswith(setting)]  # fmt: skip
    return told(min(Decimal(row["instructions"]) for row in own) / 10**6) + " M"


def arm_forward(cpu: str, path: str) -> str:
    ours = _peer("QuickNet up to", "bitreplay", path, cpu)
    fp32, int8 = (_peer("MobileNetV2 up to", "ONNX Runtime", number, cpu) for number in ("fp32", "int8"))
    return f"{ours} on a {cpu.title()}, MobileNetV2 up to block 12 {fp32} in fp32 and {int8} in int8"


def arm_step() -> str:
    frozen, trained = (
        _peer(f"QuickNet tail step of 1, bits {bits}", "", "neon", "cortex-a72") for bits in ("8/1", "8/8")
    )
    theirs = _peer("MobileNetV2 tail", "PyTorch", "fp32", "cortex-a72")
    return f"{frozen} (8/1/16) or {trained} (8/8/16) on the Cortex-A72, one of MobileNetV2's by PyTorch {theirs}"
