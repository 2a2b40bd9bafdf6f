"""Instructions on ARMv8.0 of a 512 -> 512 3x3 binary convolution at 4x4: without a board, this is what can be known."""

from __future__ import annotations

import numpy as np
import pytest

from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.program import Program
from tests.arm.emulator import instructions, needs_arm
from tests.engine.paths.one_record import Case, Operand, program_of
from tests.engine.paths.operands import zeros

SIZE, CHANNELS = (1, 4, 4), 512
MILLION = 1_000_000


def weights() -> Operand:
    signs = np.random.default_rng(0).random((CHANNELS, 3, 3, CHANNELS)) < 0.5
    return Operand(pack(signs), False, "constant")


def forward() -> Program:
    operands = {
        "x": zeros(np.uint64, (*SIZE, CHANNELS // 64)),
        "w": weights(),
        "sums": zeros(np.int16, (*SIZE, CHANNELS)),
    }
    attributes = {"channels": CHANNELS, "stride": 1, "pad": 1, "padding": 0}
    return program_of(Case("binary_conv", operands, attributes, 1), "sums")


def input_grad(dtype: type) -> Program:
    operands = {"g": zeros(dtype, (*SIZE, CHANNELS)), "w": weights(), "gx": zeros(np.int32, (*SIZE, CHANNELS))}
    return program_of(Case("binary_conv_input_grad", operands, {"channels": CHANNELS, "stride": 1, "pad": 1}, 1), "gx")


@needs_arm
@pytest.mark.parametrize(
    "name, program, most",
    [
        ("forward", forward(), 1.8 * MILLION),
        ("input gradient int8", input_grad(np.int8), 6 * MILLION),
        ("input gradient int16", input_grad(np.int16), 9 * MILLION),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_instructions_of_a_convolution(name, program, most, tmp_path, record_property):
    first, second = (instructions("neon", tmp_path, program, "forward", 1) for _ in range(2))
    scalar = instructions("scalar", tmp_path, program, "forward", 1)
    record_property(
        "figure", f"{name}: {first:,} instructions on neon, {scalar:,} on scalar, at most {int(most):,} asked"
    )
    assert first == second, "counts must repeat exactly"
    assert MILLION < first <= most
    assert first < scalar
