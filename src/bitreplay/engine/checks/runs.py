"""Checks that need no oracle: shapes, purity, integers, saving, idle steps, the arena."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.packing import words_for
from bitreplay.engine.checks.bench import STEP, Bench, need
from bitreplay.engine.checks.integers_only import FloatFound, IntegerArray, only_integers
from bitreplay.engine.operations import OPERATIONS
from bitreplay.engine.program import Program
from bitreplay.engine.reference import ReferenceMachine

POISON = 0xA5
ALIGNMENT = 64


def output(bench: Bench, machine: ReferenceMachine, name: str) -> NDArray:
    return machine.read(bench.builder.tensors[bench.builder.values[name].tensor].name, bench.samples)


def check_shapes(bench: Bench, name: str) -> None:
    """The tensor of a node has the shape that its value declares, and every element of it is written."""
    value = bench.builder.values[name]
    tensor = bench.builder.tensors[value.tensor]
    height, width, channels = value.shape
    signs = value.activation is None and value.scales is None and tensor.dtype == np.uint64
    logits = len(tensor.shape) == 1
    expected = (channels,) if logits else (height, width, words_for(channels) if signs else channels)
    need(tensor.per_sample, f"{name}: its output is not one per sample")
    need(tensor.shape == expected, f"{name}: declares {value.shape} and its tensor has {tensor.shape}")
    if value.scales is not None:
        need(len(value.scales) == channels, f"{name}: has {len(value.scales)} scales for {channels} channels")
    found = []
    for fill in (0, POISON):
        machine = bench.machine(fill=fill)
        machine.run("forward", bench.run())
        found.append(output(bench, machine, name))
    need(np.array_equal(found[0], found[1]), f"{name}: its output depends on what the arena held before")


def check_pure(bench: Bench, name: str) -> None:
    """Forward twice: the same output. No operation changes a tensor that it only reads."""
    machine = bench.machine()
    machine.run("forward", bench.run())
    first = output(bench, machine, name)
    machine.run("forward", bench.run())
    need(np.array_equal(first, output(bench, machine, name)), f"{name}: the same input gives another output")
    run = bench.run()
    for list_name in STEP:
        for record in (r for r in bench.program.records if r.list == list_name):
            entry = OPERATIONS[record.operation]
            written = {role.rstrip("?") for role in entry.writes}
            numbers = zip(entry.tensors, record.tensors, strict=True)
            read = {role: machine.program.tensors[n] for role, n in numbers if n >= 0 and role not in written}
            before = {role: machine.view(tensor, bench.samples).copy() for role, tensor in read.items()}
            machine.run_record(record, run)
            for role, content in before.items():
                same = np.array_equal(content, machine.view(read[role], bench.samples))
                need(same, f"{record.operation} changes {read[role].name}, which it only reads")


def inputs(bench: Bench, name: str) -> tuple[str, ...]:
    """The nodes that a node reads; none for the level itself."""
    if name == "level":
        return ()
    return ("head",) if name == "loss" else bench.builder.graph.node(name).inputs


def check_whole(bench: Bench) -> None:
    """A whole step makes no floating-point array."""
    machine = bench.machine()
    machine.regions = {name: region.view(IntegerArray) for name, region in machine.regions.items()}
    files = {entry.reference.__module__ for entry in OPERATIONS.values()}
    files |= {name for name in sys.modules if name.startswith("bitreplay.engine") and "checks" not in name}
    try:
        with only_integers([sys.modules[name] for name in sorted(files)]):
            bench.step(machine, bench.run())
    except FloatFound as found:
        need(False, f"a step makes floating point: {found}")


def check_saved(bench: Bench) -> None:
    """Written and read, the program has the same bytes and gives the same results."""
    data = bench.program.to_bytes()
    again = Program.from_bytes(data)
    need(again.to_bytes() == data, "a program that was written and read has other bytes")
    first, second = (bench.step(bench.machine(program), bench.run()) for program in (bench.program, again))
    for region, content in first.regions.items():
        need(np.array_equal(content, second.regions[region]), f"a program that was read gives another {region}")


def check_idle(bench: Bench) -> None:
    """A learning rate of 0 changes no parameter; nor do samples without gradient at any rate."""
    machine = bench.machine()
    before = machine.regions["parameter"].copy()
    bench.step(machine, bench.run(rate=0))
    need(np.array_equal(before, machine.regions["parameter"]), "a learning rate of 0 changes a parameter")
    machine = bench.machine()
    # One active class has probability 1: the loss has no gradient.
    machine.write("head.active", (np.arange(len(bench.head)) == 0).astype(np.uint8))
    machine.write("labels", np.zeros_like(bench.labels))
    before = machine.regions["parameter"].copy()
    bench.step(machine, bench.run(rate_shift=20))
    need(np.array_equal(before, machine.regions["parameter"]), "samples without gradient change a parameter")


def check_arena(bench: Bench, packed: Bench) -> None:
    """The arena is what its tensors reach, and sharing places by lifetime changes no result."""
    program = packed.program
    ends = [t.offset + t.bytes(program.max_samples) for t in program.tensors if t.region == "arena"]
    planned = -(-max(ends) // ALIGNMENT) * ALIGNMENT
    need(program.scratch_offset == planned, f"tensors reach {planned} bytes, the plan is {program.scratch_offset}")
    machine = packed.machine()
    taken = {name: len(region) for name, region in machine.regions.items()}
    sizes = {"arena": program.arena_bytes, "parameter": len(program.parameters), "constant": len(program.constants)}
    need(taken == sizes, f"the plan is {sizes} bytes, a machine takes {taken}")
    apart = bench.step(bench.machine(), bench.run())
    packed.step(machine, packed.run())
    for name in ("logits", "p_label"):
        same = np.array_equal(apart.read(name, bench.samples), machine.read(name, bench.samples))
        need(same, f"tensors that share a place change {name}")
    same = np.array_equal(apart.regions["parameter"], machine.regions["parameter"])
    need(same, "tensors that share a place change what is learned")
