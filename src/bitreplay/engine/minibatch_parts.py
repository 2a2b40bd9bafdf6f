"""A step whose minibatch comes in parts, in the arena of one part: bit for bit the step of the whole.

    begin(machine)                        docs/law.md section 9, "A minibatch in parts"
    measure(machine, run)                 each part: forward, backward; the exponents that its sums over samples need
    gather(machine, run, minibatch)       each part: forward, backward; its share of the sums
    end(machine, run)                     update, prepare; run.samples is the minibatch

Samples meet in one place alone: merge_samples (arithmetic/quant.py) adds their sums with one exponent, which the
largest of all samples' exponents decides. So every part passes twice. Of a single sample, what merges gives the sum
itself, shifted left into 61 bits, since |sum| < 2^61: rounding that to the common exponent is rounding the sum.

This is the reference; core/src/machine/parts.cc is the native twin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import round_shift, wide
from bitreplay.engine.arithmetic.quant import NO_GRADIENT
from bitreplay.engine.operations import OPERATIONS, Operation, Run
from bitreplay.engine.program import Program, ProgramError, Record
from bitreplay.engine.reference import ReferenceMachine

LARGEST_BOUND = 61
SATURATED = "saturated"
Sums = tuple[list[tuple[NDArray, int]], NDArray]


def merging(program: Program) -> Iterator[Record]:
    """The records whose sums over samples wait for all parts."""
    for record in program.records:
        if record.list == "backward" and OPERATIONS[record.operation].merges:
            yield record


def check(program: Program) -> None:
    """ProgramError where another record makes one thing of many samples, such as weights that learn within the backward
    pass; or where the sums have no room."""
    for record in program.records:
        entry = OPERATIONS[record.operation]
        once = record.list in ("update", "prepare")
        for role, number in zip(entry.tensors, record.tensors, strict=True):
            if number < 0 or role == SATURATED or (entry.merges and record.list == "backward"):
                continue
            per_sample = program.tensors[number].per_sample
            if per_sample if once else entry.written(role) and not per_sample:
                raise ProgramError("micro-batches need frozen convolutions: q_b^bin of 1, and none that learn")
        if entry.merges:
            bounds = [value for name, value in zip(entry.attributes, record.attributes, strict=True) if "bound" in name]
            if max(bounds) > LARGEST_BOUND:
                raise ProgramError(f"micro-batches need sums of at most {LARGEST_BOUND} bits, got {max(bounds)}")


def work_bytes(program: Program) -> int:
    """What the sums of one sample are written to."""
    sizes = []
    for record in merging(program):
        entry = OPERATIONS[record.operation]
        written = [n for role, n in zip(entry.tensors, record.tensors, strict=True) if entry.written(role) and n >= 0]
        sizes.append(sum(-(-program.tensors[number].bytes(1) // 64) * 64 for number in written))
    return max(sizes, default=0)


def begin(machine: ReferenceMachine) -> None:
    for record in merging(machine.program):
        sums, exponents = _written(OPERATIONS[record.operation], _arrays(machine, record, 1))
        exponents[...] = NO_GRADIENT
        for array, _ in sums:
            array[...] = 0


def measure(machine: ReferenceMachine, run: Run) -> None:
    """Exponents of sums over one sample, the largest so far."""
    for record in _passed(machine, run, counting=False):
        _, tops = _written(OPERATIONS[record.operation], _arrays(machine, record, run.samples))
        _, exponents = _aside(machine, record, run, range(run.samples))
        scaled = wide(exponents) - run.samples.bit_length()
        tops[...] = np.where(exponents > NO_GRADIENT, np.maximum(tops, scaled), tops)


def gather(machine: ReferenceMachine, run: Run, minibatch: int) -> None:
    for record in _passed(machine, run, counting=True):
        sums, tops = _written(OPERATIONS[record.operation], _arrays(machine, record, run.samples))
        for n in range(run.samples):
            part_sums, exponents = _aside(machine, record, run, range(n, n + 1))
            for (total, at), (one, _) in zip(sums, part_sums, strict=True):
                if exponents[at] > NO_GRADIENT:
                    total += round_shift(one, int(tops[at]) + minibatch.bit_length() - int(exponents[at]))


def end(machine: ReferenceMachine, run: Run) -> None:
    for record in merging(machine.program):
        _, exponents = _written(OPERATIONS[record.operation], _arrays(machine, record, 1))
        exponents += np.where(exponents > NO_GRADIENT, run.samples.bit_length(), 0).astype(exponents.dtype)
    for name in ("update", "prepare"):
        for record in machine.program.records:
            if record.list == name:
                machine.run_record(record, run)


def _passed(machine: ReferenceMachine, run: Run, counting: bool) -> Iterator[Record]:
    """Forward and backward; records that merge are the caller's. Saturated numbers are counted in one of two passes."""
    counters = [t for t in machine.program.tensors if t.name.endswith(f".{SATURATED}")]
    before = [machine.view(tensor, 1).copy() for tensor in counters]
    machine.run("forward", run)
    for record in machine.program.records:
        if record.list == "backward":
            if OPERATIONS[record.operation].merges:
                yield record
            else:
                machine.run_record(record, run)
    if not counting:
        for tensor, values in zip(counters, before, strict=True):
            machine.view(tensor, 1)[...] = values


def _arrays(machine: ReferenceMachine, record: Record, samples: int) -> dict[str, NDArray | None]:
    roles = OPERATIONS[record.operation].tensors
    tensors = machine.program.tensors
    return {
        role: machine.view(tensors[number], samples) if number >= 0 else None
        for role, number in zip(roles, record.tensors, strict=True)
    }


def _written(entry: Operation, arrays: dict[str, NDArray | None]) -> Sums:
    """Sums, each with the place of its exponent; exponents."""
    *roles, last = (role.rstrip("?") for role in entry.writes)
    exponents = arrays[last]
    assert exponents is not None
    sums = [(role, 0 if len(exponents) == 1 else place) for place, role in enumerate(roles)]
    return [(array, place) for role, place in sums if (array := arrays[role]) is not None], exponents


def _aside(machine: ReferenceMachine, record: Record, run: Run, samples: range) -> Sums:
    """What the record gives of these samples alone, in arrays of its own."""
    entry = OPERATIONS[record.operation]
    arrays = _arrays(machine, record, run.samples)
    for role, number in zip(entry.tensors, record.tensors, strict=True):
        array = arrays[role]
        if array is not None and entry.written(role):
            arrays[role] = np.zeros_like(array)
        elif array is not None and machine.program.tensors[number].per_sample:
            arrays[role] = array[samples.start : samples.stop]
    attributes = dict(zip(entry.attributes, record.attributes, strict=True))
    entry.reference(SimpleNamespace(**arrays), SimpleNamespace(**attributes), replace(run, samples=len(samples)))
    return _written(entry, arrays)
