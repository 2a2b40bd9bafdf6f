"""Cases as one file for a machine without Python (core/tools/cases.c, tests/wasm/drive.js), and what must come back."""

from __future__ import annotations

import struct

import numpy as np

from bitreplay.engine.reference import ReferenceMachine
from tests.engine.paths.one_record import Case, program_of, run_of


def file_of(cases: list[tuple[Case, str]]) -> tuple[bytes, list[bytes]]:
    """The file, and the arena after each case, with the named tensor last in memory."""
    file, expected, changed = bytearray(), [], 0
    for case, last in cases:
        program = program_of(case, last)
        reference = ReferenceMachine(program)
        for role, operand in case.operands.items():
            if operand.region == "arena":
                reference.write(role, operand.content)
        bytes_, arena = program.to_bytes(), reference.regions["arena"].tobytes()
        run = run_of(case)
        numbers = (run.seed, run.step, run.samples, run.rate_mantissa, run.rate_shift)
        file += struct.pack("<QQQQqqq", len(bytes_), len(arena), *numbers) + bytes_ + arena
        reference.run("forward", run)
        expected.append(reference.regions["arena"].tobytes())
        changed += expected[-1] != arena
    assert 2 * changed > len(cases), "most cases do nothing"
    return bytes(file), expected


def pairs(expected: list[bytes], found: bytes) -> list[tuple[bytes, bytes]]:
    """(expected, found) of each case, from the bytes that came back."""
    assert len(found) == sum(len(one) for one in expected)
    ends = np.cumsum([len(one) for one in expected])
    return [(one, found[end - len(one) : end]) for one, end in zip(expected, ends, strict=True)]
