"""One operation on every instruction set, in memory that ends at an unmapped page.

A program of a single record is laid out by hand; the reference runs it in plain memory, the native core in pages behind
which nothing is mapped, once for each tensor of the arena as the last one: a read or write beyond it ends the process.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import native
from bitreplay.engine.operations import OPERATIONS, Run
from bitreplay.engine.program import Program, Record, Tensor
from bitreplay.engine.reference import ReferenceMachine

NO_ACCESS = 0  # PROT_NONE, which the module mmap lacks
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


@dataclass(frozen=True)
class Operand:
    """A tensor of the record: its first content; `region` constant or arena; the first axis counts samples or not."""

    content: NDArray
    per_sample: bool = True
    region: str = "arena"


@dataclass
class Case:
    operation: str
    operands: dict[str, Operand]
    attributes: dict[str, int]
    samples: int
    label: str = field(default="")


def guarded(content: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A copy whose last byte is followed by a page that cannot be touched."""
    page = mmap.PAGESIZE
    pages = -(-max(len(content), 1) // page)
    area = mmap.mmap(-1, (pages + 1) * page)
    whole = np.frombuffer(area, np.uint8)
    if _libc.mprotect(whole.ctypes.data + pages * page, page, NO_ACCESS):
        raise OSError(ctypes.get_errno(), "mprotect failed")
    region = whole[pages * page - len(content) : pages * page]
    region[:] = content
    return region


def program_of(case: Case, last: str) -> Program:
    """The record with `last` at the very end of the arena (and of the constants, where it is one)."""
    entry = OPERATIONS[case.operation]
    roles = [role for role in entry.tensors if role in case.operands]
    order = [role for role in roles if role != last] + ([last] if last in roles else [])
    sizes, places = {"arena": 0, "constant": 0}, {}
    for role in order:
        operand = case.operands[role]
        item = operand.content.dtype.itemsize
        size = operand.content.nbytes
        at = -(-sizes[operand.region] // 64) * 64
        if role == last:
            at = -(-(at + size) // 64) * 64 - size
        assert at % item == 0
        places[role] = at
        sizes[operand.region] = at + size
    arena, constants = (np.zeros(-(-sizes[region] // 64) * 64, np.uint8) for region in ("arena", "constant"))
    tensors: list[Tensor] = []
    numbers: dict[str, int] = {}
    for role in roles:
        operand = case.operands[role]
        shape = operand.content.shape[1:] if operand.per_sample else operand.content.shape
        numbers[role] = len(tensors)
        tensors.append(Tensor(role, operand.region, operand.content.dtype, shape, operand.per_sample, places[role]))
        if operand.region == "constant":
            raw = np.ascontiguousarray(operand.content).reshape(-1).view(np.uint8)
            constants[places[role] : places[role] + len(raw)] = raw
    ids = tuple(numbers.get(role, -1) for role in entry.tensors)
    record = Record(case.operation, "forward", ids, tuple(case.attributes[name] for name in entry.attributes))
    return Program(case.samples, tensors, [record], len(arena), len(arena), np.zeros(0, np.uint8), constants)


class GuardedMachine(native.NativeMachine):
    """The native machine with its program and arena at the edge of mapped memory."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        image = guarded(np.frombuffer(program.to_bytes(), np.uint8))
        self._opened = native.OpenedProgram(image, self.threads)
        self.regions["constant"] = image[len(image) - len(program.constants) :]
        self.regions["arena"] = guarded(self.regions["arena"])


def run_of(case: Case) -> Run:
    return Run(case.samples, seed=7, step=3, rate_mantissa=(1 << 30) + 12345, rate_shift=30)


def compare(case: Case, paths: Sequence[str], last: str) -> None:
    """Native equals reference in every byte of the arena, with `last` at the guard page."""
    program, run = program_of(case, last), run_of(case)
    reference = ReferenceMachine(program)
    machines = []
    for path in paths:
        native.set_isa(path)
        machines.append(GuardedMachine(program))
        assert machines[-1].isa == path
    for role, operand in case.operands.items():
        if operand.region == "arena":
            for memory in (reference, *machines):
                memory.write(role, operand.content)
    reference.run("forward", run)
    for machine in machines:
        machine.run("forward", run)
        for role in case.operands:
            expected, found = reference.read(role, case.samples), machine.read(role, case.samples)
            assert np.array_equal(expected, found), (machine.isa, case.operation, case.label, role, "last:", last)
        arena = len(reference.regions["arena"])
        assert np.array_equal(reference.regions["arena"], machine.regions["arena"][:arena]), (machine.isa, case.label)


def check(case: Case, path: str) -> None:
    """Native equals reference, whichever tensor lies last."""
    for last in case.operands:
        compare(case, [path], last)
