"""Runs a program with the readable NumPy functions of the layers. Normative: the native core equals it bit for bit.

machine = ReferenceMachine(program)
machine.write("latents", words); machine.write("labels", labels)
machine.run("forward", Run(samples=32))
logits = machine.read("logits", 32)

A machine serves one thread at a time. For another thread make another machine on the same program:

answering = machine.sibling()                 an arena of its own; weights and all else are shared
whole = machine.snapshot()                    on the thread that learns, when what it has learned is whole
answering.adopt(whole)                        on the other thread: forward runs from this state from now on
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import SimpleNamespace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.aligned import ALIGNMENT, aligned, aligned_zeros
from bitreplay.engine.operations import OPERATIONS, Run
from bitreplay.engine.program import LISTS, Program, Record, Tensor

Kind = TypeVar("Kind", bound="Memory")


class Memory(ABC):
    """The three regions of a program as byte arrays, and named views into them."""

    _adopted: NDArray[np.uint8] | None = None  # what was prepared from

    def __init__(self, program: Program) -> None:
        self.program = program
        self.regions = {
            "constant": aligned(program.constants),
            "parameter": aligned(program.parameters),
            "arena": aligned_zeros(program.arena_bytes),
        }
        passing = [t.offset + t.bytes(program.max_samples) for t in program.tensors if t.region == "passing"]
        if passing:  # one at a time
            self.regions["passing"] = aligned_zeros(max(passing))

    def view(self, tensor: Tensor, samples: int) -> NDArray:
        count = samples if tensor.per_sample else 1
        shape = (samples, *tensor.shape) if tensor.per_sample else tensor.shape
        end = tensor.offset + tensor.sample_bytes * count
        return self.regions[tensor.region][tensor.offset : end].view(tensor.dtype).reshape(shape)

    def read(self, name: str, samples: int = 1) -> NDArray:
        """A copy of a tensor's present content."""
        tensor = self._known(name)
        if not 1 <= samples <= self.program.max_samples:
            raise ValueError(f"{name} holds 1 to {self.program.max_samples} samples, got {samples}.")
        return self.view(tensor, samples).copy()

    def write(self, name: str, values: NDArray) -> None:
        """Set a tensor, or its first samples; anything but its own type and shape is refused."""
        tensor, max_samples = self._known(name), self.program.max_samples
        if not isinstance(values, np.ndarray) or values.dtype != tensor.dtype:
            got = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
            raise ValueError(f"{name} must be an array of {tensor.dtype}, got {got}.")
        shape = values.shape[1:] if tensor.per_sample and values.ndim else values.shape
        if shape != tensor.shape or (tensor.per_sample and not (values.ndim and 1 <= len(values) <= max_samples)):
            many = f" for each of 1 to {max_samples} samples" if tensor.per_sample else ""
            raise ValueError(f"{name} must have the shape {tensor.shape}{many}, got {values.shape}.")
        self.view(tensor, len(values) if tensor.per_sample else 1)[...] = values

    def sibling(self: Kind) -> Kind:
        """Another machine on the same program, to be run by another thread at the same time.

        It shares the constants and what was made of them, and has an arena of its own, all zeros, and its own copy of
        the parameters as they are now: call it while nothing changes them. Each counts its own saturated numbers.
        """
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.regions = self.regions | {
            "parameter": aligned(self.regions["parameter"]),
            "arena": aligned_zeros(len(self.regions["arena"])),
        }
        other._adopted = None
        other.run("prepare", Run(samples=1))
        return other

    def snapshot(self) -> NDArray[np.uint8]:
        """A copy of the parameters that nobody can change: any number of siblings may adopt it."""
        copy = aligned(self.regions["parameter"])
        copy.flags.writeable = False
        return copy

    def adopt(self, parameters: NDArray[np.uint8]) -> None:
        """Run from these parameters from now on, a snapshot of a sibling: it is not copied, and cannot be trained.
        Those that it runs from already cost nothing."""
        if parameters is self._adopted:
            return
        size = len(self.regions["parameter"])
        if parameters.dtype != np.uint8 or parameters.shape != (size,) or parameters.ctypes.data % ALIGNMENT:
            raise ValueError(
                f"The parameters must be a snapshot of {size} bytes, got {parameters.shape} of {parameters.dtype}."
            )
        self._adopted = None  # what is stopped in between is done anew
        self.regions["parameter"] = parameters
        self.run("prepare", Run(samples=1))
        self._adopted = parameters

    @abstractmethod
    def run(self, list_name: str, run: Run) -> None:
        """Run one of the four lists."""

    def _may_run(self, list_name: str) -> None:
        """Prepare and forward write the arena alone; the others may write parameters."""
        if list_name not in ("prepare", "forward") and not self.regions["parameter"].flags.writeable:
            raise ValueError(
                f"The list {list_name!r} would change parameters that were adopted; train the machine they are from."
            )

    def _known(self, name: str) -> Tensor:
        if not self.program.has(name):
            raise ValueError(f"The program has no tensor named {name!r}.")
        return self.program.tensor(name)


class ReferenceMachine(Memory):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.run("prepare", Run(samples=1))

    def run(self, list_name: str, run: Run) -> None:
        if list_name not in LISTS:
            raise ValueError(f"There is no list {list_name!r}; expected one of {', '.join(LISTS)}.")
        if not 0 < run.samples <= self.program.max_samples:
            raise ValueError(f"The program runs 1 to {self.program.max_samples} samples, got {run.samples}.")
        self._may_run(list_name)
        for record in self.program.records:
            if record.list == list_name:
                self.run_record(record, run)

    def run_record(self, record: Record, run: Run) -> None:
        entry = OPERATIONS[record.operation]
        arrays = {
            role: self.view(self.program.tensors[number], run.samples) if number >= 0 else None
            for role, number in zip(entry.tensors, record.tensors, strict=True)
        }
        attributes = dict(zip(entry.attributes, record.attributes, strict=True))
        entry.reference(SimpleNamespace(**arrays), SimpleNamespace(**attributes), run)
