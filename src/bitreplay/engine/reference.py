"""Runs a program with the readable NumPy functions of the layers. Normative: the native core equals it bit for bit.

machine = ReferenceMachine(program)
machine.write("latents", words); machine.write("labels", labels)
machine.run("forward", Run(samples=32))
logits = machine.read("logits", 32)
"""

from __future__ import annotations

from types import SimpleNamespace

from numpy.typing import NDArray

from bitreplay.engine.aligned import aligned, aligned_zeros
from bitreplay.engine.operations import OPERATIONS, Run
from bitreplay.engine.program import Program, Record, Tensor


class Memory:
    """The three regions of a program as byte arrays, and named views into them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.regions = {
            "constant": aligned(program.constants),
            "parameter": aligned(program.parameters),
            "arena": aligned_zeros(program.arena_bytes),
        }

    def view(self, tensor: Tensor, samples: int) -> NDArray:
        count = samples if tensor.per_sample else 1
        shape = (samples, *tensor.shape) if tensor.per_sample else tensor.shape
        end = tensor.offset + tensor.sample_bytes * count
        return self.regions[tensor.region][tensor.offset : end].view(tensor.dtype).reshape(shape)

    def read(self, name: str, samples: int = 1) -> NDArray:
        """A copy of a tensor's present content."""
        return self.view(self.program.tensor(name), samples).copy()

    def write(self, name: str, values: NDArray) -> None:
        tensor = self.program.tensor(name)
        view = self.view(tensor, len(values) if tensor.per_sample else 1)
        assert view.dtype == values.dtype and view.shape == values.shape, (name, view.shape, values.shape, values.dtype)
        view[...] = values


class ReferenceMachine(Memory):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.run("prepare", Run(samples=1))

    def run(self, list_name: str, run: Run) -> None:
        assert 0 < run.samples <= self.program.max_samples
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
