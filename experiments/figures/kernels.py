"""docs/kernels.md's figures."""

from __future__ import annotations

import importlib
import sys
from decimal import Decimal

from figures.committed import BENCHMARKS, Row, bench, format_number, rows, rows_where, single_row, table, three_digits

PAGE = "docs/kernels.md"
STEPS = {"avx512": "bench_steps_avx512.json", "avx2": "bench_steps_avx2.json"}
EARLIER = "bench_avx512.json"
WORDS = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
FORWARD = "Bi-Real-18 forward, one 32x32 image"
FROZEN = "tail step of 32, binary weights frozen"
TRAINED = "tail step of 32, 8-bit weights trained"


def _beside_torch() -> list[Row]:
    """Rows with a target, but for PyTorch's best setting, which is in the text."""
    matches = rows(BENCHMARKS / STEPS["avx512"])
    return [row for row in matches if row["target"] is not None and row["peer"] != "best PyTorch"]


def peers() -> str:
    lines = []
    for row in _beside_torch():
        line = [row["work"], row["peer"]]
        for file in STEPS.values():
            matches = bench(file, row["work"], row["peer"])
            line += [
                f"{three_digits(matches['ours'])} ms",
                f"{three_digits(matches['theirs'])} ms",
                format_number(matches["ratio"], 2),
                f"{matches['target']}",
            ]
        lines.append(line)
    return table(
        ["work", "peer", "AVX-512: ours", "peer's", "ratio", "target", "AVX2: ours", "peer's", "ratio", "target"], lines
    )


def whole() -> str:
    """QuickNet beside what would be taken instead, at the sizes that see."""
    files = {path: f"bench_whole_{path}.json" for path in STEPS}
    lines = []
    for row in rows(BENCHMARKS / files["avx512"]):
        line = [row["work"], row["peer"]]
        for file in files.values():
            found = bench(file, row["work"], row["peer"])
            line += [f"{three_digits(found[side])} ms" for side in ("ours", "theirs")]
            line += [format_number(found["ratio"], 2), "" if found["target"] is None else f"{found['target']}"]
        lines.append(line)
    return table(
        ["work", "peer", "AVX-512: ours", "peer's", "ratio", "target", "AVX2: ours", "peer's", "ratio", "target"], lines
    )


def least(path: str) -> str:
    """Milliseconds that QuickNet's binary convolutions at 192 take at their limit."""
    row = single_row(rows_where(BENCHMARKS / f"limits_{path}.csv", model="quicknet@2:192", operation="binary_conv"))
    return format_number(Decimal(row["limit"]) / 1000, 2)


def sums() -> str:
    """Of `exact`, by features and classes."""
    lines = []
    for d, classes in (("128", "10"), ("512", "10"), ("1024", "10"), ("2048", "10"), ("2048", "100")):
        row = {
            path: single_row(rows_where(BENCHMARKS / "sums.csv", n_features=d, classes=classes, isa=path))
            for path in ("scalar", "avx2", "avx512")
        }
        solved = [1000 * Decimal(row[path]["solve_s"]) for path in row]
        milliseconds = [f"{format_number(each, 0) if each >= 100 else format_number(each)} ms" for each in solved]
        added, wide = 1000 * Decimal(row["avx512"]["add_20_s"]), row["avx512"]
        lines.append([f"{int(d):,}, {classes}", f"{format_number(added, 2)} ms", *milliseconds,
                      f"{wide['add_us']} us", f"{wide['answer_us']} us"])  # fmt: skip
    return table(["features, classes", "20 pictures added, AVX-512", "solution: scalar", "AVX2", "AVX-512",
                  "a picture added", "answered"], lines)  # fmt: skip


def reached() -> str:
    held = {path: [row["holds"] for row in rows(BENCHMARKS / file) if row["target"]] for path, file in STEPS.items()}
    targets, (first, second) = len(held["avx2"]), (WORDS[each.count(True)] for each in held.values())
    return f"of the {WORDS[targets]} targets, AVX-512 reaches {first} and AVX2 {second}"


def listed_ratios() -> str:
    return f"{WORDS[len(_beside_torch())].title()} of the"


def best(path: str) -> str:
    """PyTorch in its best setting: the forward pass, the frozen step of 32, weights trained."""
    file = EARLIER if path == "compiled" else STEPS[path]
    first, second, third = (
        format_number(bench(file, work, "best PyTorch")["ratio"]) for work in (FORWARD, FROZEN, TRAINED)
    )
    if path == "avx512":
        return f"{first} (forward), {second} (frozen step of 32) and {third} (weights trained)"
    return f"{first}, {second} and {third}"


def mobilenet(path: str) -> str:
    row = single_row([row for row in rows(BENCHMARKS / STEPS[path]) if row["peer"].endswith("12, best PyTorch")])
    setting = " compiled with bf16" if "bf16" in row["note"] else ""
    return f"{format_number(row['theirs'])} ms{setting}, {format_number(row['ratio'], 2)} times"


def _larq(what: str) -> Decimal:
    return Decimal(single_row(rows_where(BENCHMARKS / "beside_larq.csv", what=what))["milliseconds"])


def larq() -> str:
    theirs = min(_larq(row["what"]) for row in rows(BENCHMARKS / "beside_larq.csv") if row["what"].startswith("Larq"))
    avx2, avx512 = _larq("bitreplay, avx2"), _larq("bitreplay, avx512")
    times = f"{format_number(theirs / avx2)} and {format_number(theirs / avx512)} times"
    return (
        f"{avx2} ms on AVX2 and {avx512} ms on AVX-512 against {format_number(theirs)} ms in its best setting, {times}"
    )


def threads() -> str:
    row = single_row(rows_where(BENCHMARKS / EARLIER, question="threads"))
    return f"{format_number(row['ours'], 2)} ms on two threads, {format_number(row['theirs'], 2)} ms in two processes"


def memory() -> str:
    row = single_row(rows_where(BENCHMARKS / EARLIER, question="memory"))
    ours, theirs = format_number(row["ours"]), format_number(row["theirs"])
    return f"{ours} MiB above the process's base where PyTorch takes {theirs} MiB"


def minibatches() -> str:
    """Microseconds a sample."""
    matches = rows_where(BENCHMARKS / EARLIER, question="minibatch")
    sizes = [row["work"].split()[3].strip(",") for row in matches]
    return table(
        ["minibatch", *sizes], [["in blocks of eight", *(format_number(1000 * row["ours"], 0) for row in matches)]]
    )


def limits() -> str:
    sys.path.append(str(BENCHMARKS.parents[1]))
    return "\n".join(importlib.import_module("benchmarks.limits").table())


def mca() -> str:
    """A row a kernel and core; products a cycle."""
    lines = [
        [row["kernel"], row["core"].title(), row["instructions"], row["products"], row["cycles"],
         three_digits(Decimal(row["products"]) / Decimal(row["cycles"]))]
        for row in rows(BENCHMARKS / "mca.csv")
    ]  # fmt: skip
    return table(["inner loop", "core", "instructions", "products", "cycles", "products a cycle"], lines)


def wasm() -> str:
    """Milliseconds, and how many times AVX2's."""
    found: dict[str, dict[str, str]] = {}
    for row in rows(BENCHMARKS / "wasm.csv"):
        found.setdefault(row["work"], {})[row["set"]] = row["milliseconds"]
    lines = []
    for work, taken in found.items():
        ratio = format_number(Decimal(taken["wasm"]) / Decimal(taken["avx2"]), 1)
        lines.append(
            [work, *(f"{three_digits(Decimal(taken[path]))} ms" for path in ("scalar", "wasm", "avx2")), ratio]
        )
    return table(["", "`scalar`", "`wasm`", "AVX2, native", "`wasm` / AVX2"], lines)


def reading() -> str:
    """How many times as fast two cores are, and two processes."""
    found = []
    for row in rows(BENCHMARKS / "reading.csv"):
        two, best = (format_number(Decimal(row["one"]) / Decimal(row[how]), 2) for how in ("two", "two processes"))
        found.append(f"{two} times (two processes {best}) for {row['pictures']}")
    return ", ".join(found)


def _arm(model: str, part: str, path: str, operation: str = "together") -> Decimal:
    row = single_row(rows_where(BENCHMARKS / "arm_instructions.csv", model=model, part=part, operation=operation))
    return Decimal(row[path]) / 10**6


def arm(model: str, part: str, path: str) -> str:
    """Millions of instructions."""
    return three_digits(_arm(model, part, path))


def less(model: str, part: str, before: str) -> str:
    """In percent of what version 0.1 took, in millions."""
    return format_number(100 - 100 * _arm(model, part, "neon") / Decimal(before), 0)


def arm_part(model: str, part: str, path: str, operation: str) -> str:
    value = _arm(model, part, path, operation)
    return format_number(value, 0 if value >= 100 else 1) + " M"


def _peer(work: str, by: str, setting: str, cpu: str) -> str:
    """The fewest instructions of the settings whose names begin so."""
    matches = [row for row in rows_where(BENCHMARKS / "arm_peer.csv", cpu=cpu) if row["work"].startswith(work)
           and row["by"].startswith(by) and row["setting"].startswith(setting)]  # fmt: skip
    return format_number(min(Decimal(row["instructions"]) for row in matches) / 10**6) + " M"


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
