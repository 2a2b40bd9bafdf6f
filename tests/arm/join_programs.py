"""Programs whose records may run joined, as one file of cases: what ARM and WebAssembly are to make of them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import product

import numpy as np

from bitreplay.engine.operations import Run
from bitreplay.engine.program import Program
from bitreplay.engine.reference import ReferenceMachine
from tests.engine.paths.test_joins import DEPTHWISE, FILL, GEOMETRY, SAMPLES, clipped_programs, joined, tied_programs

RUN = Run(SAMPLES, seed=7, step=3, rate_mantissa=1 << 30, rate_shift=30)
SIZES = [(16, 16), (3, 9), (70, 130), (32, 24), (12, 7), (100, 40), (5, 8)]
SHIFTS = (20, 29, 31, 32, 33, 36, 51)
CHECKED = ("x", "y", "z", "saturated")  # where sums were left out, their place holds what it held


def programs() -> Iterator[tuple[Program, dict]]:
    rng = np.random.default_rng(45)
    for number, (geometry, (channels, outputs)) in enumerate(product(GEOMETRY, SIZES)):
        x_type = (np.int8, np.int8, np.int16)[number % 3]
        for placeless in (False, True):
            yield joined(rng, "integer_conv", geometry, channels, outputs, SHIFTS[number % 7], number % 4 == 0, "y",
                         x_type, placeless=placeless)  # fmt: skip
    for number, (geometry, channels) in enumerate(product(DEPTHWISE, (3, 16, 80))):
        for placeless in (False, True):
            yield joined(rng, "depthwise_conv", geometry, channels, channels, SHIFTS[number % 7], number % 4 == 0, "y",
                         placeless=placeless, x_zero=(-128, 3, 127)[number % 3])  # fmt: skip
    for shift, tied in product((29, 32, 36), (1, 40)):
        yield from tied_programs(shift, tied)
    for last in ("x", "y", "residual"):
        yield from clipped_programs(last)


def cases() -> tuple[bytes, list[tuple[Program, bytes]]]:
    """The file, and of each case its program and the arena that the reference leaves."""
    file, expected = bytearray(), []
    for program, contents in programs():
        reference = ReferenceMachine(program)
        reference.regions["arena"][64:] = FILL
        for name, content in contents.items():
            reference.write(name, content)
        image, arena = program.to_bytes(), reference.regions["arena"].tobytes()
        numbers = (RUN.seed, RUN.step, RUN.samples, RUN.rate_mantissa, RUN.rate_shift)
        file += struct.pack("<QQQQqqq", len(image), len(arena), *numbers) + image + arena
        reference.run("forward", RUN)
        expected.append((program, reference.regions["arena"].tobytes()))
    return bytes(file), expected


def check(expected: list[tuple[Program, bytes]], results: list[tuple[bytes, bytes]], path: str) -> None:
    """Equal to the reference; half of the sums that have a place were left out where the set joins records."""
    left_out, with_a_place = 0, 0
    for number, ((program, _), (wanted, found)) in enumerate(zip(expected, results, strict=True)):
        for name in CHECKED:
            tensor = program.tensor(name)
            own = slice(tensor.offset, tensor.offset + tensor.bytes(SAMPLES))
            assert wanted[own] == found[own], (path, number, name)
        sums = program.tensor("sums")
        if sums.region == "arena":
            with_a_place += 1
            left_out += found[sums.offset + sums.bytes(SAMPLES) - 1] == FILL
    assert 2 * left_out > with_a_place or path == "scalar", (path, left_out, with_a_place)
