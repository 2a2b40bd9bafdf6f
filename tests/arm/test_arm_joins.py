"""A convolution whose sums have no place and go straight into a BatchNorm, on ARM: the bits of the reference."""

from __future__ import annotations

import struct
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bitreplay.engine.operations import Run
from bitreplay.engine.reference import ReferenceMachine
from tests.arm.emulator import ALL, emulate, needs_arm
from tests.engine.paths.cases_file import pairs
from tests.engine.paths.test_joins import DEPTHWISE, FILL, GEOMETRY, SAMPLES, joined

RUN = Run(SAMPLES, seed=7, step=3, rate_mantissa=1 << 30, rate_shift=30)
SIZES = [(16, 16), (3, 9), (70, 130), (32, 24), (12, 7)]
SHIFTS = (20, 31, 36, 51)


def programs() -> list:
    rng, made = np.random.default_rng(45), []
    for number, (geometry, (channels, outputs)) in enumerate(product(GEOMETRY, SIZES)):
        x_type = (np.int8, np.int8, np.int16)[number % 3]
        made.append(joined(rng, "integer_conv", geometry, channels, outputs, SHIFTS[number % 4], number % 2 == 0, "y",
                           x_type, placeless=True))  # fmt: skip
    for number, (geometry, channels) in enumerate(product(DEPTHWISE, (3, 16, 80))):
        made.append(joined(rng, "depthwise_conv", geometry, channels, channels, SHIFTS[number % 4], number % 2 == 0,
                           "y", placeless=True, x_zero=(-128, 3, 127)[number % 3]))  # fmt: skip
    return made


@needs_arm
@pytest.mark.parametrize("path", ALL)
def test_sums_without_a_place_equal_the_reference_on_arm(path, tmp_path, record_property):
    record_property("path", f"{path} on ARM")
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
        expected.append(reference.regions["arena"].tobytes())
    Path(tmp_path / "cases").write_bytes(file)
    done = emulate(path, "cases", str(tmp_path / "cases"), str(tmp_path / "results"))
    assert done.stdout.split()[1] == str(len(expected))
    for number, (wanted, found) in enumerate(pairs(expected, (tmp_path / "results").read_bytes())):
        assert wanted == found, (path, number)
