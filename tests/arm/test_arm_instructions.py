"""Instructions on ARMv8.0: without a board, this is what can be known.

A 512 -> 512 3x3 binary convolution at 4x4 takes no more than is asked, and whole networks no more than the rows that
benchmarks/arm_instructions.py wrote, which are not to grow unseen. Compilers differ a little, so 3 % are allowed.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bitreplay import modelfile
from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail, compile_whole
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
        ("forward", forward(), 1.0 * MILLION),
        ("input gradient int8", input_grad(np.int8), 2.8 * MILLION),
        ("input gradient int16", input_grad(np.int16), 4.0 * MILLION),
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
    assert most / 2 < first <= most
    assert first < scalar


ROWS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "arm_instructions.csv"
ALLOWED = 1.03


def committed(model: str, part: str, path: str) -> int:
    with ROWS.open(newline="") as file:
        (row,) = [row for row in csv.DictReader(file) if (row["model"], row["part"]) == (model, part)
                  and row["operation"] == "together"]  # fmt: skip
    return int(row[path])


@needs_arm
@pytest.mark.parametrize(
    "model, part, path",
    [
        ("bireal18", "whole", "neon"),
        ("bireal18", "whole", "dotprod"),
        ("bireal18", "tail", "neon"),
        ("bireal18", "tail32", "neon"),
        ("quicknet", "whole", "neon"),
        ("quicknet", "whole", "dotprod"),
    ],
)
def test_networks_take_no_more_than_the_committed_counts(model, part, path, tmp_path, record_property):
    graph, _ = modelfile.load(ROWS.parents[2] / "src" / "bitreplay" / "zoo" / f"{model}.safetensors")
    samples = 32 if part == "tail32" else 1
    if part == "whole":
        program, name = compile_whole(graph, Bits(8), 1), "forward"
        nothing = [record for record in program.records if record.list == "prepare"]
    else:
        program, name = compile_tail(graph, next(iter(graph.shapes)), Bits(8, 1, 16), samples, 10), "step"
        nothing = []
    count = instructions(path, tmp_path, program, name, samples)
    count -= instructions(path, tmp_path, replace(program, records=nothing), name, samples)
    limit = committed(model, part, path)
    record_property("figure", f"{model} {part} on {path}: {count:,} instructions, {limit:,} committed")
    assert 0.5 * limit < count <= ALLOWED * limit
