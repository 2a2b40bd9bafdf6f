"""One operation with its tensors: what a vector file holds, run as a program of one record.

In a file a case is {"name", "operation", "run", "attributes", "tensors": {role: {"dtype", "per_sample", "values"}},
"expected": the same for what is written}. `values` are nested lists; an absent optional tensor is null.

The oracle of an operation is the function of its name in one of the files oracles/*.py beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from bitreplay.engine import layers as layers
from bitreplay.engine.operations import OPERATIONS, Run
from bitreplay.engine.program import Program, Record, Tensor, check
from tests.engine.law.arrays import Nested, shape_of

HERE = Path(__file__).parent


def modules(pattern: str) -> list[ModuleType]:
    """The files of this folder whose names match."""
    return [
        import_module(".".join(("tests.engine.law", *path.relative_to(HERE).with_suffix("").parts)))
        for path in sorted(HERE.glob(pattern))
    ]


def operation_files() -> list[ModuleType]:
    """operation_*.py: one file with all that the law asks of an operation.

    Its oracle is a function of the operation's name; RANDOM has a maker of random cases for each operation, VECTORS the
    named ties, EXTREMES the worst case of each accumulator. Older operations have these in oracles/*.py, random/*.py,
    vectors/operations*.py and extremes*.py.
    """
    return modules("operation_*.py")


def makers() -> dict[str, Callable[..., Case]]:
    """Who makes random cases, by operation."""
    found = {name: make for m in modules("random/*.py") for name, make in vars(m).items() if name in OPERATIONS}
    return found | {name: make for module in operation_files() for name, make in module.RANDOM.items()}


def oracle(operation: str) -> Callable[..., dict[str, Nested]]:
    files = [*modules("oracles/*.py"), *operation_files()]
    return next(getattr(module, operation) for module in files if hasattr(module, operation))


@dataclass(frozen=True)
class Held:
    """The content of one tensor."""

    dtype: str
    per_sample: bool
    values: Nested


@dataclass(frozen=True)
class Case:
    name: str
    operation: str
    tensors: Mapping[str, Held | None]
    attributes: dict[str, int] = field(default_factory=dict)
    run: dict[str, int] = field(default_factory=lambda: {"samples": 1})

    def roles(self) -> tuple[str, ...]:
        return OPERATIONS[self.operation].tensors

    def expected(self) -> dict[str, Nested]:
        """What the oracle writes."""
        held = {role: tensor.values if (tensor := self.tensors.get(role)) else None for role in self.roles()}
        written = oracle(self.operation)
        return written(SimpleNamespace(**held), SimpleNamespace(**self.attributes), SimpleNamespace(**self.run))

    def program(self) -> Program:
        tensors: list[Tensor] = []
        size = 0
        for role in self.roles():
            held = self.tensors.get(role)
            if held is not None:
                shape = shape_of(held.values)
                shape = shape[1:] if held.per_sample else shape
                tensors.append(Tensor(role, "arena", np.dtype(held.dtype), shape, held.per_sample, size))
                size += -(-tensors[-1].bytes(self.run["samples"]) // 64) * 64
        numbers = {tensor.name: n for n, tensor in enumerate(tensors)}
        entry = OPERATIONS[self.operation]
        record = Record(self.operation, "forward", tuple(numbers.get(role, -1) for role in self.roles()),
                        tuple(self.attributes[name] for name in entry.attributes))  # fmt: skip
        program = Program(self.run["samples"], tensors, [record], size, size, np.zeros(64, np.uint8),
                          np.zeros(64, np.uint8))  # fmt: skip
        check(program)
        return program

    def found(self, make_machine: Callable[[Program], Any]) -> dict[str, Nested]:
        """What a machine writes; fails if it changes a tensor that it only reads."""
        machine = make_machine(self.program())
        samples = self.run["samples"]
        for role, held in self.tensors.items():
            if held is not None:
                machine.write(role, np.array(held.values, held.dtype))
        machine.run("forward", Run(**self.run))
        entry = OPERATIONS[self.operation]
        written = {role.rstrip("?") for role in entry.writes}
        after = {role: machine.read(role, samples).tolist() for role, held in self.tensors.items() if held is not None}
        for role, held in self.tensors.items():
            assert held is None or role in written or after[role] == held.values, f"{role} was changed"
        return {role: values for role, values in after.items() if role in written}
