"""Every operation of the WebAssembly build equals the reference, the last tensor at the end of memory, under Node."""

from __future__ import annotations

import pytest

from tests.arm import join_programs
from tests.arm.test_arm_kernels import examples
from tests.engine.paths.cases_file import file_of, pairs
from tests.engine.paths.every_case import EVERY
from tests.engine.paths.one_record import Case
from tests.engine.paths.random_shapes import SHAPES
from tests.engine.paths.sums_cases import every_size, expected, extremes
from tests.engine.paths.sums_cases import file_of as sums_file
from tests.wasm.engines import SETS, Engine, Node, chromium, needs_wasm

IN_CHROMIUM = ["pack_signs", "binary_conv", "binary_conv_input_grad", "integer_conv", "dense"]


def compare(engine: Engine, where: str, cases: list[tuple[Case, str]], record_property) -> None:
    file, right = file_of(cases)
    for isa in SETS:
        record_property("path", f"{isa} in {where}")
        for (case, last), (one, found) in zip(cases, pairs(right, engine.call(isa, "cases", [file])), strict=True):
            assert one == found, (isa, case.operation, case.label, "last:", last)


@needs_wasm
@pytest.mark.parametrize("kernel", EVERY)
def test_a_kernel_equals_the_reference_in_node(kernel, tmp_path, record_property):
    """Each tensor lies last in one case of three or more: that alone makes a case slow to prepare."""
    every = list(EVERY[kernel]())
    cases = [(case, last) for k, case in enumerate(every) for j, last in enumerate(case.operands) if (j + k) % 3 == 0]
    assert len(cases) >= 15
    compare(Node(tmp_path), "Node", cases, record_property)


@needs_wasm
@pytest.mark.parametrize("operation", SHAPES)
def test_random_shapes_equal_the_reference_in_node(operation, tmp_path, record_property):
    compare(Node(tmp_path), "Node", examples(SHAPES[operation]), record_property)


@needs_wasm
def test_joined_records_equal_the_reference_in_node(tmp_path, record_property):
    file, expected = join_programs.cases()
    for isa in SETS:
        record_property("path", f"{isa} in Node")
        found = pairs([arena for _, arena in expected], Node(tmp_path).call(isa, "cases", [file]))
        join_programs.check(expected, found, isa)


def check_sums(engine: Engine, where: str, record_property) -> None:
    cases = [*every_size(), *extremes()]
    right = b"".join(expected(case) for case in cases)
    for isa in SETS:
        record_property("path", f"{isa} in {where}")
        assert engine.call(isa, "sums", [b"".join(sums_file(case) for case in cases)]) == right, isa


@needs_wasm
def test_sums_equal_the_reference_in_node(tmp_path, record_property):
    check_sums(Node(tmp_path), "Node", record_property)


@needs_wasm
def test_kernels_and_sums_equal_the_reference_in_chromium(record_property):
    with chromium() as engine:
        for kernel in IN_CHROMIUM:
            cases = [(case, list(case.operands)[-1]) for case in EVERY[kernel]()]
            compare(engine, "Chromium", cases, record_property)
        check_sums(engine, "Chromium", record_property)
