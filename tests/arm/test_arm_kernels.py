"""Every operation of the ARM build equals the reference, in buffers that end at a guard page, under qemu-user."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.arm.emulator import ALL, PATHS, arenas, needs_arm
from tests.engine.paths.every_case import EVERY
from tests.engine.paths.one_record import Case
from tests.engine.paths.random_shapes import SHAPES

EXAMPLES = 30
OWN = (
    "integer_conv", "integer_conv_limits", "integer_conv as in the law", "learned_conv as in the law",
    "depthwise_blocks", "depthwise_strips", "depthwise_conv as in the law",
)  # fmt: skip


def with_paths(names: Iterable[str]) -> list[tuple[str, str]]:
    """Every name on every instruction set that has kernels of its own for it: what dotprod shares is NEON's."""
    return [(name, path) for name in names for path in (ALL if name in OWN else PATHS)]


def examples(strategy: st.SearchStrategy[Case]) -> list[tuple[Case, str]]:
    """Cases that hypothesis finds, always the same, each with a tensor to lie last: one emulator runs them all."""
    found: list[tuple[Case, str]] = []

    @settings(max_examples=EXAMPLES, derandomize=True, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(case=strategy, last=st.integers(0, 10))
    def collect(case, last):
        found.append((case, list(case.operands)[last % len(case.operands)]))

    collect()
    return found


def compare(path: str, folder, cases: list[tuple[Case, str]]) -> None:
    for (case, last), (expected, actual) in zip(cases, arenas(path, folder, cases), strict=True):
        assert expected == actual, (path, case.operation, case.label, "last:", last)


@needs_arm
@pytest.mark.parametrize("kernel, path", with_paths(EVERY))
def test_a_kernel_equals_the_reference_on_arm(kernel, path, tmp_path, record_property):
    record_property("path", f"{path} on ARM")
    cases = [(case, last) for case in EVERY[kernel]() for last in case.operands]
    assert len(cases) >= 40
    compare(path, tmp_path, cases)


@needs_arm
@pytest.mark.parametrize("operation, path", with_paths(SHAPES))
def test_random_shapes_equal_the_reference_on_arm(operation, path, tmp_path, record_property):
    record_property("path", f"{path} on ARM")
    cases = examples(SHAPES[operation])
    assert len(cases) >= EXAMPLES // 2
    compare(path, tmp_path, cases)
