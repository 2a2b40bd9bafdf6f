"""How far every operation is from the core's own limit.

    taskset -c 1 python -m benchmarks.limits             on the instruction set in use; BITREPLAY_ISA names another
    python -m benchmarks.limits neon                     (or dotprod) from the rows of arm_instructions.py
    python -m benchmarks.limits table                    docs/kernels.md's lines, of the rows

Rows go to results/limits_<set>.csv. On x86 `core/tools/limits.c` measures how many vector instructions of a kind the
core starts in a second; an operation's limit is the time of the instructions of one kind that it needs at least, LEAST,
or of the loads or the stores of its tensors, whichever is longest. On ARM it is the number of all these together. CPU
time, the shortest of many runs.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from math import prod
from pathlib import Path

from benchmarks.arm_instructions import RESULTS as ARM_ROWS
from benchmarks.arm_instructions import graph_of, trained, with_places
from benchmarks.profile_records import filled
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail, compile_whole
from bitreplay.engine.operations import OPERATIONS, Run
from bitreplay.engine.program import Program, Record
from bitreplay.planning.work import DENSE, DEPTHWISE

ROOT = Path(__file__).resolve().parents[1]
FIELDS = ("set", "model", "part", "operation", "work", "unit", "taken", "limit", "by", "ratio")
PARTS = (
    ("bireal18", "whole", 1),
    ("quicknet@2:192", "whole", 1),
    ("bireal18", "tail32", 32),
    ("bireal18", "trained", 1),
)
TITLES = {
    ("bireal18", "whole"): "Bi-Real-18 forward, one image",
    ("quicknet@2:192", "whole"): "QuickNet forward, one 192x192 image",
    ("bireal18", "tail32"): "Bi-Real-18 tail, frozen, step of 32",
    ("bireal18", "trained"): "the same, 8-bit weights trained, step of 1",
}
SETS = {"avx512": "AVX-512", "avx2": "AVX2", "neon": "NEON, instructions"}
TIMES = 40
# operation -> (instruction, how many a product; or an element where the operation has no products)
WIDE = {
    "affine_input_grad": 1,
    "affine_param_grad": 1,
    "dense_param_grad": 1,
    "sign_input_grad": 6,
}  # 32 x 32 to 64 bits
LEAST: dict[str, dict[str, tuple[str, float]]] = {
    "avx2": {
        "binary_conv": ("vpaddb 256", 40.5 / 3072),
        "binary_conv_input_grad": ("vpaddb 256", 57.5 / 1024),
        "integer_conv": ("vpmaddwd 256", 1 / 16),
        "depthwise_conv": ("vpmaddwd 256", 1 / 16),
        "dense": ("vpmaddwd 256", 1 / 16),
        "affine": ("vpmaddwd 256", 1 / 8),
        "latent_update": ("vpaddb 256", 9 / 8),
        **{name: ("vpmuldq 256", count / 4) for name, count in WIDE.items()},
    },
    "avx512": {
        "binary_conv": ("vpaddq 512", 3 / 512),
        "binary_conv_input_grad": ("vpermi2b 512", 4.5 / 384),
        "integer_conv": ("vpdpwssd 512", 1 / 32),
        "depthwise_conv": ("vpdpwssd 512", 1 / 32),
        "dense": ("vpdpwssd 512", 1 / 32),
        "affine": ("vpdpwssd 512", 4 / 32),
        "latent_update": ("vpaddq 512", 9 / 16),
        **{name: ("vpmuldq 512", count / 8) for name, count in WIDE.items()},
    },
    "neon": {
        "binary_conv": ("eor, bsl, cnt, add", 5 / 256),
        "binary_conv_input_grad": ("tbl, add, uaddw", 54 / 512),
        "integer_conv": ("smull, smlal, sadalp", 3 / 16),
        "depthwise_conv": ("smull, smlal, saddw", 1 / 4),
        "dense": ("smlal", 1 / 4),
        "affine": ("smlal", 2 / 2),
        "latent_update": ("random bits", 9 / 4),
        "affine_input_grad": ("smull", 1 / 2),
        "affine_param_grad": ("smlal", 1 / 2),
        "dense_param_grad": ("smull", 1 / 2),
        "sign_input_grad": ("smull, sqrdmulh", 2 * (1 / 4 + 2 / 2)),
    },
}
LEAST["dotprod"] = LEAST["neon"] | {"integer_conv": ("sdot", 1 / 16)}


def program_of(model: str, part: str, samples: int) -> Program:
    graph = graph_of(model)
    if part == "whole":
        return compile_whole(graph, Bits(8), samples)
    bits = Bits(8, 8 if part == "trained" else 1, 16)
    return trained(compile_tail(graph, next(iter(graph.shapes)), bits, samples, 10), samples)


def inside(outputs: int, inputs: int, kernel: int, stride: int, pad: int) -> int:
    """Taps along one side of a map that lie inside it, over all outputs."""
    return sum(0 <= at * stride + tap - pad < inputs for at in range(outputs) for tap in range(kernel))


def work_of(program: Program, record: Record, samples: int) -> tuple[int, bool]:
    """Products, taps outside the map left out; or elements, and that they are no products."""
    entry = OPERATIONS[record.operation]
    tensors = {role: program.tensors[n] for role, n in zip(entry.tensors, record.tensors, strict=True) if n >= 0}
    attributes = dict(zip(entry.attributes, record.attributes, strict=True))
    conv = DENSE.get(record.operation, ("", *DEPTHWISE.get(record.operation, ("", ""))))
    if not conv[2] or record.operation == "latent_update":  # which makes few of its products: latent_rare.h
        return max(prod(t.shape) * (samples if t.per_sample else 1) for t in tensors.values()), False
    out, weights = tensors[conv[1]].shape, tensors[conv[2]].shape
    if len(out) != 3:
        return samples * prod(out) * weights[-1], True
    maps = [t.shape for role, t in tensors.items() if role in ("x", "gx") and len(t.shape) == 3]
    kernel, channels = weights[1], 1 if record.operation in DEPTHWISE else attributes.get("channels", weights[-1])
    taps = prod(
        inside(out[side], maps[0][side], kernel, attributes["stride"], attributes.get("pad", 0))
        if maps and "stride" in attributes
        else out[side] * kernel
        for side in (0, 1)
    )
    return samples * taps * out[2] * channels, True


def vectors(program: Program, record: Record, samples: int, width: int) -> tuple[float, float]:
    """Loads and stores of `width` bytes for the record's tensors, each once."""
    entry = OPERATIONS[record.operation]
    sizes: Counter[bool] = Counter()
    for role, number in zip(entry.tensors, record.tensors, strict=True):
        if number >= 0:
            sizes[role in entry.writes] += program.tensors[number].bytes(samples)
    return sizes[False] / width, sizes[True] / width


def products_to_a_lane(path: str, program: Program, record: Record) -> float:
    """As a multiple of those of pairs of words. Where x is of bytes, vpdpbusd adds four products and starts as often;
    on AVX2 three vpmaddubsw and one vpmaddwd make as many as six vpmaddwd, at best and for 1x1 windows."""
    x, w = (program.tensors[number] for number in record.tensors[:2])
    if x.dtype != "int8":
        return 1
    return 2 if path == "avx512" else 1.5 if w.shape[1] == 1 else 1


def measured_rates(path: str) -> dict[str, float]:
    """10^9 instructions a second, by name."""
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "limits"
        subprocess.run(["cc", "-O2", ROOT / "core" / "tools" / "limits.c", "-o", binary], check=True)
        output = subprocess.run([binary, path], check=True, capture_output=True, text=True).stdout
    return {name: float(rate) for name, rate in (line.rsplit(" ", 1) for line in output.splitlines())}


def fastest(machine: native.NativeMachine, name: str, run: Run) -> float:
    """Microseconds of CPU time of the fastest run of a list."""
    best = float("inf")
    for _ in range(TIMES):
        start = time.thread_time_ns()
        machine.run(name, run)
        best = min(best, time.thread_time_ns() - start)
    return best / 1000


def on_this_core(path: str) -> Iterable[dict[str, object]]:
    rates, bits = measured_rates(path), 512 if path == "avx512" else 256
    for model, part, samples in PARTS:
        program, run = with_places(program_of(model, part, samples)), Run(samples, 7, 1, 1 << 20, 31)
        lists = ["forward"] if part == "whole" else ["forward", "backward", "update"]
        machine = filled(program, lists, run)
        overhead = fastest(native.NativeMachine(replace(program, records=[])), "forward", run)
        totals: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for record in program.records:
            if record.list not in lists:
                continue
            alone = native.NativeMachine(replace(program, records=[record]))
            alone.regions["arena"][: program.arena_bytes] = machine.regions["arena"][: program.arena_bytes]
            alone.run(record.list, run)
            work, products = work_of(program, record, samples)
            loads, stores = vectors(program, record, samples, bits // 8)
            name, each = LEAST[path].get(record.operation, (f"load {bits}", 0.0))
            if record.operation == "integer_conv":
                each /= products_to_a_lane(path, program, record)
            cost = totals[record.operation]
            cost["taken"] += fastest(alone, record.list, run) - overhead
            cost["work"] += work
            cost["products"] += products
            for instruction, count in (
                (name, work * each), (f"load {bits}", loads), (f"store {bits}", stores)
            ):  # fmt: skip
                cost[instruction] += count / rates[instruction] / 1000
        for operation, cost in totals.items():
            by, limit = max(((k, v) for k, v in cost.items() if k in rates), key=lambda item: item[1])
            taken = round(cost["taken"], 1)
            yield row(path, model, part, operation, int(cost["work"]), cost["products"] > 0, taken, round(limit, 2), by)


def by_instructions(path: str) -> Iterable[dict[str, object]]:
    with ARM_ROWS.open(newline="") as file:
        counted = {(r["model"], r["part"], r["operation"]): int(r[path]) for r in csv.DictReader(file)}
    for model, part, samples in PARTS:
        program = program_of(model, part, samples)
        totals: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        for record in program.records:
            work, products = work_of(program, record, samples)
            _, each = LEAST[path].get(record.operation, ("", 0.0))
            cost = totals[record.operation]
            instructions = work * each + sum(vectors(program, record, samples, 16))
            for at, number in enumerate((work, products, instructions)):
                cost[at] += number
        for operation, (all_work, all_products, limit) in totals.items():
            if taken := counted.get((model, part, operation)):
                by = LEAST[path].get(operation, ("loads and stores", 0))[0]
                yield row(path, model, part, operation, int(all_work), bool(all_products), taken, int(limit), by)


def row(
    path: str, model: str, part: str, operation: str, work: int, products: bool, taken: float, limit: float, by: str
) -> dict[str, object]:
    numbers = (path, model, part, operation, work, "products" if products else "elements", taken, limit, by)
    return dict(zip(FIELDS, (*numbers, round(taken / limit, 2) if limit else ""), strict=True))


def rows_file(path: str) -> Path:
    return ROOT / "benchmarks" / "results" / f"limits_{path}.csv"


def table() -> list[str]:
    """The operations that take at least a hundredth of a part on some set: reached / limit, by what: the ratio."""
    available = [path for path in SETS if rows_file(path).exists()]
    cells: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    large = set()
    for path in available:
        with rows_file(path).open(newline="") as file:
            rows = list(csv.DictReader(file))
        scale, unit = (1e6, "M") if path in ("neon", "dotprod") else (1, "us")
        for r in rows:
            key = (r["model"], r["part"], r["operation"])
            same = [float(other["taken"]) for other in rows if (other["model"], other["part"]) == key[:2]]
            taken, limit = (number(float(r[name]) / scale) for name in ("taken", "limit"))
            by = r["by"].removesuffix(" 256").removesuffix(" 512")
            cells[key][path] = f"{taken} / {limit} {unit}, {by}: {float(r['ratio'] or 0):.3g}"
            if float(r["taken"]) >= sum(same) / 100:
                large.add(key)
    lines = []
    for part, title in TITLES.items():
        lines += [
            f"| {title} | " + " | ".join(SETS[path] for path in available) + " |",
            "|---" * (1 + len(available)) + "|",
        ]
        for key, cost in cells.items():
            if key[:2] == part and key in large:
                lines.append(f"| {key[2]} | " + " | ".join(cost.get(path, "") for path in available) + " |")
        lines.append("")
    return lines[:-1]


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else native.isa()
    if path == "table":
        print("\n".join(table()))
        return
    if path not in LEAST:
        raise SystemExit(f"There are no limits for {path!r}; expected one of {', '.join(LEAST)}, or table.")
    rows = list(by_instructions(path) if path in ("neon", "dotprod") else on_this_core(path))
    with rows_file(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for each in rows:
        print(" ".join(f"{value!s:>12}" for value in each.values()))


if __name__ == "__main__":
    main()
