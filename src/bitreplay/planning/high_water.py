"""The operation at which most of a program's arena is in use: what to look at when it does not fit.

A tensor lives from its first to its last use, in the order in which a step runs. One that is read before anything wrote
it, an input or an operand of the step before, lives throughout.
"""

from __future__ import annotations

from dataclasses import dataclass

from bitreplay.engine.operations import OPERATIONS
from bitreplay.engine.program import Program

ORDER = ("forward", "backward", "update", "prepare")


@dataclass(frozen=True)
class HighWater:
    """`bytes` are those of the tensors alive at `operation`, whose largest one is called `tensor`."""

    operation: str
    tensor: str
    bytes: int


def high_water(program: Program) -> HighWater:
    records = sorted(program.records, key=lambda record: ORDER.index(record.list))
    spans: dict[int, tuple[int, int]] = {}
    for at, record in enumerate(records):
        entry = OPERATIONS[record.operation]
        for role, number in zip(entry.tensors, record.tensors, strict=True):
            if number >= 0 and program.tensors[number].region == "arena":
                first, _ = spans.get(number, (at if entry.written(role) else -1, at))
                spans[number] = (first, at if first >= 0 else len(records))
    alive = [0] * len(records)
    for place, (first, last) in _places(program, spans).items():
        for at in range(max(first, 0), min(last, len(records) - 1) + 1):
            alive[at] += place[1]
    at = max(range(len(records)), key=lambda number: alive[number])
    touched = [program.tensors[number] for number in records[at].tensors if number >= 0]
    largest = max(touched, key=lambda tensor: tensor.bytes(program.max_samples))
    return HighWater(records[at].operation, largest.name, alive[at])


def _places(program: Program, spans: dict[int, tuple[int, int]]) -> dict[tuple[int, int], tuple[int, int]]:
    """Offset and bytes -> span; a tensor and its reshaped twin are one place if their lives meet."""
    lives: dict[tuple[int, int], tuple[int, int]] = {}
    for number, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
        tensor = program.tensors[number]
        place = (tensor.offset, tensor.bytes(program.max_samples))
        if place in lives and first <= lives[place][1] + 1:
            lives[place] = (min(first, lives[place][0]), max(last, lives[place][1]))
        elif place in lives:  # another life of the same bytes: the longer one is the one that may matter
            lives[place] = max(lives[place], (first, last), key=lambda span: span[1] - span[0])
        else:
            lives[place] = (first, last)
    return lives
