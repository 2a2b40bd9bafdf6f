"""Runs a program with the native core: the same interface and the same bits as reference.ReferenceMachine.

    machine = native.machine(program)         a NativeMachine, or the reference with a warning that says why
    machine.run("forward", Run(samples=32))
    machine.run_step(Run(samples=32, ...))    forward, backward, update, prepare in one call
    answering = machine.sibling()             the same opened program in an arena of its own, for another thread
    machine.begin_parts(), measure, gather, end_parts: such a step in parts (minibatch_parts.py)
    native.footprint(program).total           the bytes that this takes, known without a machine

A machine keeps the instruction set that was chosen when it was made (`set_isa`, or BITREPLAY_ISA) and its number of
threads (`threads`, or BITREPLAY_THREADS, or 1). The others wait inside the library until a run has work for them, and
end with the machine. Whatever their number, the bits are the same. A forked child runs on one thread.
"""

from __future__ import annotations

import ctypes
import os
import time
import warnings
import weakref
from ctypes import c_void_p
from dataclasses import fields
from functools import cached_property
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.core import LIBRARY as LIBRARY
from bitreplay.core import library as library
from bitreplay.core.interface import br_memory, br_operation_info, br_run_args
from bitreplay.engine import minibatch_parts
from bitreplay.engine.aligned import aligned, aligned_zeros
from bitreplay.engine.footprint import Footprint
from bitreplay.engine.operations import Run
from bitreplay.engine.program import LISTS, Program, ProgramError
from bitreplay.engine.reference import Memory, ReferenceMachine

STEP = len(LISTS)
MAX_THREADS = 64
_64 = (1 << 64) - 1


def built_isas() -> list[str]:
    """Instruction sets in the library, slowest first."""
    return library().br_isas().decode().split()


def available_isas() -> list[str]:
    """Those of them that this CPU has."""
    return [name for name in built_isas() if library().br_isa_supported(name.encode())]


def isa() -> str:
    """The instruction set that machines made from now on will use."""
    name = library().br_isa()
    if name is None:
        raise ValueError(f"BITREPLAY_ISA must be one of the instruction sets of this machine: {available_isas()}")
    return name.decode()


def set_isa(name: str) -> None:
    if library().br_set_isa(name.encode()):
        raise ValueError(f"instruction set {name!r} cannot be used here; available: {available_isas()}")


def default_threads() -> int:
    """What BITREPLAY_THREADS says, or 1."""
    text = os.environ.get("BITREPLAY_THREADS") or "1"
    if not text.isdecimal() or not 1 <= int(text) <= MAX_THREADS:
        raise ValueError(f"BITREPLAY_THREADS must be a number from 1 to {MAX_THREADS}, got {text!r}")
    return int(text)


class OpenedProgram:
    """A program that the core has read: tables, derived operands, helping threads. Machines share it.

    It is closed when the last of them is gone. Runs on it may overlap; one of them at a time has the helpers.
    """

    def __init__(self, image: NDArray[np.uint8], threads: int) -> None:
        self.core = library()
        self.threads = threads
        self._image = image  # read where it lies, until closed
        self.handle, error = c_void_p(), ctypes.create_string_buffer(256)
        failed = self.core.br_program_open_threads(
            image.ctypes.data, len(image), threads, ctypes.byref(self.handle), error, len(error)
        )
        if failed:
            raise ProgramError(error.value.decode())
        for _ in range(1, threads):
            Thread(target=self.core.br_worker_run, args=(self.handle,), name="bitreplay", daemon=True).start()
        while self.core.br_program_workers(self.handle) < threads - 1:
            time.sleep(0.0001)
        self._close = weakref.finalize(self, self.core.br_program_close, self.handle)

    @property
    def isa(self) -> str:
        return self.core.br_program_isa(self.handle).decode()

    @property
    def footprint(self) -> Footprint:
        info = br_memory()
        self.core.br_program_memory(self.handle, ctypes.byref(info))
        return _footprint(info)


class NativeMachine(Memory):
    def __init__(self, program: Program, threads: int | None = None) -> None:
        # Not Memory's: the constants are the program's own bytes, and behind the arena's tensors there is scratch.
        self.program = program
        self._opened = OpenedProgram(program.image, default_threads() if threads is None else threads)
        memory = self.footprint
        self.regions = {
            "constant": program.constants,
            "parameter": aligned(program.parameters),
            "arena": aligned_zeros(memory.arena + memory.scratch),
        }
        self.run("prepare", Run(samples=1))

    @property
    def threads(self) -> int:
        return self._opened.threads

    @property
    def isa(self) -> str:
        return self._opened.isa

    @property
    def footprint(self) -> Footprint:
        """With siblings: each adds its own `parameters`, `arena` and `scratch`."""
        return self._opened.footprint

    def run(self, list_name: str, run: Run) -> None:
        if list_name not in LISTS:
            raise ValueError(f"There is no list {list_name!r}; expected one of {', '.join(LISTS)}.")
        self._may_run(list_name)
        self._run(LISTS.index(list_name), run)

    def run_step(self, run: Run) -> None:
        self._may_run("update")
        self._run(STEP, run)

    def _run(self, number: int, run: Run) -> None:
        core, (parameters, arena, args) = self._opened.core, self._given(run)
        self._done(core.br_run(self._opened.handle, number, parameters, arena, args))

    def _given(self, run: Run) -> tuple[int, int, Any]:
        args = br_run_args(run.seed & _64, run.step & _64, run.samples, run.rate_mantissa, run.rate_shift)
        return self.regions["parameter"].ctypes.data, self.regions["arena"].ctypes.data, ctypes.byref(args)

    def _done(self, failed: int) -> None:
        if failed:
            raise ValueError(f"the program could not run: {self._opened.core.br_error_text(failed).decode()}")

    # a minibatch in parts: minibatch_parts.py

    @cached_property
    def _work(self) -> NDArray[np.uint8]:
        """What sums of one sample are written to; none where the program does not take parts."""
        return aligned_zeros(self._opened.core.br_parts_bytes(self._opened.handle))

    def begin_parts(self) -> None:
        self._done(self._opened.core.br_parts_begin(self._opened.handle, self.regions["arena"].ctypes.data))

    def measure(self, run: Run) -> None:
        self._may_run("backward")
        self._done(self._opened.core.br_parts_measure(self._opened.handle, *self._given(run), self._work.ctypes.data))

    def gather(self, run: Run, minibatch: int) -> None:
        self._may_run("backward")
        address = self._work.ctypes.data
        self._done(self._opened.core.br_parts_gather(self._opened.handle, *self._given(run), minibatch, address))

    def end_parts(self, run: Run) -> None:
        self._may_run("update")
        self._done(self._opened.core.br_parts_end(self._opened.handle, *self._given(run)))


class SlowMachine(ReferenceMachine):
    """The reference with the native machine's interface."""

    @property
    def footprint(self) -> Footprint:
        """The regions; NumPy's temporary arrays are not counted."""
        parameters, arena = self.regions["parameter"].nbytes, self.regions["arena"].nbytes
        return Footprint(len(self.program.image), 0, 0, parameters, arena, 0)

    def run_step(self, run: Run) -> None:
        for name in ("forward", "backward", "update", "prepare"):
            self.run(name, run)

    def begin_parts(self) -> None:
        minibatch_parts.begin(self)

    def measure(self, run: Run) -> None:
        minibatch_parts.measure(self, run)

    def gather(self, run: Run, minibatch: int) -> None:
        minibatch_parts.gather(self, run, minibatch)

    def end_parts(self, run: Run) -> None:
        minibatch_parts.end(self, run)


def known_operations() -> set[str]:
    """The names of the operations in the library."""
    info, names = br_operation_info(), set[str]()
    while library().br_operation(len(names), ctypes.byref(info)):
        names.add(info.name.decode())
    return names


def footprint(program: Program, threads: int | None = None) -> Footprint:
    """What a machine for this program will take. Without the library: the regions, which is less than NumPy takes."""
    info, error = br_memory(), ctypes.create_string_buffer(256)
    try:
        core = library()
    except OSError:
        return Footprint(len(program.image), 0, 0, len(program.parameters), program.arena_bytes, 0)
    threads = default_threads() if threads is None else threads
    failed = core.br_program_plan(
        program.image.ctypes.data, len(program.image), threads, ctypes.byref(info), error, len(error)
    )
    if failed:
        raise ProgramError(error.value.decode())
    return _footprint(info)


def _footprint(info: br_memory) -> Footprint:
    return Footprint(*(int(getattr(info, part.name)) for part in fields(Footprint)))


def machine(program: Program, threads: int | None = None) -> NativeMachine | SlowMachine:
    """The fastest machine there is for a program: the reference where the library is missing or too old for it."""
    try:
        lacking = sorted({record.operation for record in program.records} - known_operations())
        why = f"the native core does not know the operation {lacking[0]}" if lacking else ""
    except OSError as error:
        why = f"the native core could not be loaded ({error})"
    if not why:
        return NativeMachine(program, threads)
    warnings.warn(
        f"{why}; the NumPy reference runs instead: the same results, forward and training steps ten to a thousand "
        "times slower",
        RuntimeWarning,
        stacklevel=2,
    )
    return SlowMachine(program)
