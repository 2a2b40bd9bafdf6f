"""The time of each operation of a compiled network, one sample or a minibatch, on the chosen instruction set.

    taskset -c 1 python -m benchmarks.profile_records bireal18 whole
    BITREPLAY_ISA=avx2 taskset -c 1 python -m benchmarks.profile_records react18 tail --samples 32
    taskset -c 1 python -m benchmarks.profile_records quicknet@2 whole --size 192 --each
    taskset -c 1 python -m benchmarks.profile_records converted.safetensors whole

Each record is made a program of its own and run on what the whole program left in the arena; the shortest time counts.
A convolution and the BatchNorm that alone reads its sums are one program: the core may run them together.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from bitreplay import modelfile
from bitreplay.core import BESIDE_THE_PACKAGE
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import CONVOLUTIONS
from bitreplay.engine.compile import compile_tail, compile_whole
from bitreplay.engine.operations import OPERATIONS, Run
from bitreplay.engine.program import Program, Record
from bitreplay.modelfile.input_sizes import at_size

ROOT = BESIDE_THE_PACKAGE.parents[1] / "zoo"


def fastest(call: Callable[[], None], times: int) -> float:
    """Microseconds of the fastest call."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter_ns()
        call()
        best = min(best, time.perf_counter_ns() - start)
    return best / 1000


def filled(program: Program, lists: list[str], run: Run) -> native.NativeMachine:
    machine, rng = native.NativeMachine(program), np.random.default_rng(0)
    for name, dtype, high in (("images", np.uint8, 256), ("latents", np.uint64, 1 << 63), ("labels", np.int32, 10)):
        if program.has(name):
            machine.write(name, rng.integers(0, high, (run.samples, *program.tensor(name).shape)).astype(dtype))
    for name in lists:
        machine.run(name, run)
    return machine


def described(program: Program, record: Record) -> list[str]:
    """Role, type and shape of each tensor that a record touches."""
    roles = OPERATIONS[record.operation].tensors
    tensors = [(role, program.tensors[n]) for role, n in zip(roles, record.tensors, strict=True) if n >= 0]
    return [f"{role} {tensor.dtype}{list(tensor.shape)}" for role, tensor in tensors]


def together(program: Program) -> Iterator[list[Record]]:
    """The records one by one, and convolutions with their BatchNorm."""
    records = list(program.records)
    uses = Counter(number for record in records for number in record.tensors)
    while records:
        first = [records.pop(0)]
        if records and first[0].operation in CONVOLUTIONS and records[0].operation == "affine":
            if any(uses[number] == 2 for number in set(first[0].tensors) & set(records[0].tensors)):
                first.append(records.pop(0))
        yield first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model of the zoo, or a model file")
    parser.add_argument("part", choices=["whole", "tail"])
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--size", type=int, help="side of the squares that the network sees (its own)")
    parser.add_argument(
        "--each", action="store_true", help="also every record, with the tensors that it reads and writes"
    )
    args = parser.parse_args()
    graph, _ = modelfile.load(
        Path(args.model) if args.model.endswith(".safetensors") else ROOT / f"{args.model}.safetensors"
    )
    if args.size:
        graph = at_size(graph, args.size)
    bits, run = Bits(8, 1, 16), Run(args.samples, 7, 1, 1 << 20, 31)
    if args.part == "whole":
        program, lists = compile_whole(graph, bits, args.samples), ["forward"]
    else:
        program = compile_tail(graph, max(graph.replay_layers, key=graph.position), bits, args.samples, 10)
        lists = ["forward", "backward", "update", "prepare"]
    machine = filled(program, lists, run)
    total, count = defaultdict[str, float](float), Counter[str]()
    nothing = native.NativeMachine(replace(program, records=[]))
    overhead = fastest(lambda: nothing.run("forward", run), args.times)
    for records in together(program):
        record, name = records[0], " + ".join(one.operation for one in records)
        if record.list not in lists:
            continue
        alone = native.NativeMachine(replace(program, records=records))
        size = program.arena_bytes
        alone.regions["arena"][:size] = machine.regions["arena"][:size]
        alone.run(record.list, run)
        call = partial(alone.run, record.list, run)
        microseconds = fastest(call, args.times) - overhead
        total[name] += microseconds
        count[name] += 1
        if args.each:
            for one in records:
                print(f"{microseconds:10.1f} us      {one.operation}: {', '.join(described(program, one))}")
                microseconds = 0
    whole = fastest(partial(machine.run, lists[0], run), args.times) - overhead
    for name, microseconds in sorted(total.items(), key=lambda item: -item[1]):
        print(f"{microseconds:10.1f} us {count[name]:4} {name}")
    print(f"{sum(total.values()):10.1f} us together, on {native.isa()}; {lists[0]} in one go {whole:.1f} us")


if __name__ == "__main__":
    main()
