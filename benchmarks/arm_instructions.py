"""Instructions of each operation on 64-bit ARM, counted under qemu-user: what can be known without a board.

    make test-arm                                            builds the core and core/tools for ARM
    python -m benchmarks.arm_instructions                    every question below; writes results/arm_instructions.csv
    python -m benchmarks.arm_instructions bireal18 tail      one of them, as a table

`whole` is one image forward; `tail` a training step of one sample after the first replay layer, at 8/1/16 bits;
`tail32` of 32; `trained` of one at 8/8/16, with latent weights.

A program is cut into its records, which run one after the other on the same memory; what runs joined with the record
before it counts as what it adds to that. Counts repeat exactly. They say nothing of caches and of how many instructions
a core starts at once.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from bitreplay import modelfile
from bitreplay.engine.aligned import ALIGNMENT
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail, compile_whole
from bitreplay.engine.graph import Graph
from bitreplay.engine.native import NativeMachine
from bitreplay.engine.operations import Run
from bitreplay.engine.program import LISTS, Program, Record
from bitreplay.modelfile.input_sizes import at_size

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("BITREPLAY_ARM") or ROOT / "build" / "aarch64")
RESULTS = ROOT / "benchmarks" / "results" / "arm_instructions.csv"
QUESTIONS = [(model, part) for model in ("bireal18", "quicknet") for part in ("whole", "tail", "trained")]
QUESTIONS.insert(2, ("bireal18", "tail32"))
QUESTIONS += [("quicknet@2:192", "whole"), ("efficientnet_lite0:160", "whole")]
PATHS = ("neon", "dotprod", "scalar")
OTHER_LABELS = (1, 2, 3)  # a class that was learned before has a small gradient, and few latent weights would move


def graph_of(model: str) -> Graph:
    """A network of the zoo; `name:size` is it for images of another size."""
    name, _, size = model.partition(":")
    graph, _ = modelfile.load(ROOT / "src" / "bitreplay" / "zoo" / f"{name}.safetensors")
    return at_size(graph, int(size)) if size else graph


def counts(parts: list[tuple[Program, int]], path: str, samples: int) -> list[int]:
    """Instructions of a list of each program; all run on the same memory, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        words: list[str | Path | int] = []
        for number, (program, which) in enumerate(parts):
            file = Path(folder) / str(number)
            file.write_bytes(program.to_bytes())
            words += [file, which, *([samples] if number == 0 else [])]
        command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-plugin", BUILD / "qemu_count.so",
                   BUILD / "core" / "tools" / "count", *words]  # fmt: skip
        environment = os.environ | {"BITREPLAY_ISA": path}
        done = subprocess.run(
            [str(word) for word in command], env=environment, capture_output=True, text=True, check=True
        )
    numbers = [int(number) for number in re.findall(r"^instructions (\d+)$", done.stderr, re.MULTILINE)]
    assert len(numbers) == len(parts) and done.stdout.strip() == path, (done.stdout, done.stderr)
    return numbers


def with_places(program: Program) -> Program:
    """Sums that go straight into the next record get a place, so that each record can run alone."""
    tensors, at = [], program.arena_bytes
    for tensor in program.tensors:
        if tensor.region == "passing":
            tensor = replace(tensor, region="arena", offset=at)
            at += -(-tensor.bytes(program.max_samples) // ALIGNMENT) * ALIGNMENT
        tensors.append(tensor)
    return replace(program, tensors=tensors, arena_bytes=at, scratch_offset=at)


def by_operation(program: Program, path: str, samples: int = 1) -> Counter[str]:
    """Instructions of each operation; what a forward pass prepares is left out. In a forward pass a record counts as
    what it adds to the one before, whose result may go straight into it; that one alone is given a place for its
    result. Steps join nothing, and two runs of a record would learn twice."""
    placed = with_places(program)
    step = any(record.list == "backward" for record in program.records)
    lists = [[record for record in program.records if record.list == name] for name in LISTS]
    records = [record for each in lists for record in each]
    pairs = [] if step else [pair for each in lists for pair in pairwise(each)]
    nothing, *numbers = counts(
        [(replace(placed, records=[]), 0)]
        + [(replace(placed, records=[record]), LISTS.index(record.list)) for record in records]
        + [(joinable(program, placed, *pair), LISTS.index(pair[0].list)) for pair in pairs],
        path,
        samples,
    )
    alone = {id(record): number - nothing for record, number in zip(records, numbers, strict=False)}
    behind = dict(zip((id(second) for _, second in pairs), pairs, strict=True))
    together = dict(zip(behind, numbers[len(records) :], strict=True))
    by_name: Counter[str] = Counter()
    for record in records:
        own = alone[id(record)]
        if id(record) in behind:
            own = together[id(record)] - nothing - alone[id(behind[id(record)][0])]
        if step or record.list == "forward":
            by_name[record.operation] += own
    return by_name


def joinable(program: Program, placed: Program, first: Record, second: Record) -> Program:
    """Both records alone: as the program has them where no tensor without a place is another record's too."""
    passing = {number for number, tensor in enumerate(program.tensors) if tensor.region == "passing"}
    inside = passing & set(first.tensors) == passing & set(second.tensors)
    return replace(program if inside else placed, records=[first, second])


def trained(program: Program, samples: int, classes: tuple[int, ...] = OTHER_LABELS) -> Program:
    """The program after a step of each class: a head of zeros would let no gradient through. The step that is counted
    is of class 0."""
    machine, rng = NativeMachine(program), np.random.default_rng(0)
    codes = rng.integers(0, 1 << 64, (samples, *program.tensor("latents").shape), np.uint64)
    for step, number in enumerate(classes):
        machine.write("latents", codes)
        machine.write("labels", np.full(samples, number, np.int32))
        machine.run_step(Run(samples, 0, step, 1 << 30, 37))
    return replace(program, parameters=machine.regions["parameter"].copy())


def measure(model: str, part: str) -> list[tuple[str | int, ...]]:
    """(operation, its instructions on each of PATHS), the dearest first."""
    graph, samples = graph_of(model), 32 if part == "tail32" else 1
    if part == "whole":
        program = compile_whole(graph, Bits(8), samples)
    else:
        replay_layer, binary = next(iter(graph.shapes)), 8 if part == "trained" else 1
        program = trained(compile_tail(graph, replay_layer, Bits(8, binary, 16), samples, 10), samples)
    totals = [by_operation(program, path, samples) for path in PATHS]
    rows: list[tuple[str | int, ...]] = [
        (name, *(each[name] for each in totals)) for name, _ in totals[0].most_common()
    ]
    return [*rows, ("together", *(each.total() for each in totals))]


def show(model: str, part: str, rows: list[tuple[str | int, ...]]) -> None:
    print(f"{model + ' ' + part:28}" + "".join(f"{path:>15}" for path in PATHS))
    for name, *numbers in rows:
        print(f"{name:28}" + "".join(f"{number:>15,}" for number in numbers), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", help="a model of the zoo")
    parser.add_argument("part", nargs="?", choices=["whole", "tail", "tail32", "trained"], default="tail")
    args = parser.parse_args()
    if args.model:
        return show(args.model, args.part, measure(args.model, args.part))
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["model", "part", "operation", *PATHS])
        for model, part in QUESTIONS:
            rows = measure(model, part)
            show(model, part, rows)
            table.writerows([model, part, *row] for row in rows)


if __name__ == "__main__":
    main()
