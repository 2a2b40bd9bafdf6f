"""The registry of operations: what a program may contain.

An operation is a name, a number, the tensors that it reads and writes (in that order in its record), whole-number
attributes, and a reference function. A layer's file declares its operations beside the layer:

    @operation("pack_signs", code=1, reads="x", writes="bits", attributes="zero")
    def pack_signs(t, a, run):
        t.bits[...] = pack(t.x >= a.zero)

`t` has one array per tensor (None where an optional one, written with `?`, is absent), `a` one int per attribute,
`run` is the Run below. Tensors that change in place stand in both lists. Numbers never change once released: they are
written into program files. core/src/operations/ declares the same, and a test compares the two. One that `merges`
writes sums over the samples, int64, and last their exponents, int32: one, or one for each of them
(minibatch_parts.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Run:
    """What varies from call to call of one program."""

    samples: int
    seed: int = 0
    step: int = 0
    rate_mantissa: int = 0
    rate_shift: int = 0


Reference = Callable[[Any, Any, Run], None]


@dataclass(frozen=True)
class Operation:
    name: str
    code: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    attributes: tuple[str, ...]
    reference: Reference
    merges: bool = False

    @property
    def tensors(self) -> tuple[str, ...]:
        """Roles in the order of the record: reads, then writes that are not read too."""
        plain = [role.rstrip("?") for role in self.reads]
        return (*plain, *(role.rstrip("?") for role in self.writes if role.rstrip("?") not in plain))

    def optional(self, role: str) -> bool:
        return f"{role}?" in self.reads + self.writes

    def written(self, role: str) -> bool:
        return role in self.writes or f"{role}?" in self.writes


OPERATIONS: dict[str, Operation] = {}
BY_CODE: dict[int, Operation] = {}


def operation(
    name: str, *, code: int, reads: str, writes: str, attributes: str = "", merges: bool = False
) -> Callable[[Reference], Reference]:
    def register(function: Reference) -> Reference:
        words = [tuple(text.split()) for text in (reads, writes, attributes)]
        entry = Operation(name, code, words[0], words[1], words[2], function, merges)
        assert name not in OPERATIONS and code not in BY_CODE, f"operation {name} or number {code} is taken"
        OPERATIONS[name] = BY_CODE[code] = entry
        return function

    return register
