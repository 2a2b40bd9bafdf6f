"""Accumulators at their stated worst case: no operation wraps, in the reference or in the native core."""

from __future__ import annotations

import pytest

from bitreplay.engine.native import NativeMachine
from bitreplay.engine.reference import ReferenceMachine
from tests.engine.law.case import modules, operation_files

CASES = [case for module in [*modules("extremes*.py"), *operation_files()] for case in module.EXTREMES]


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.operation}: {case.name}") for case in CASES])
def test_an_accumulator_at_its_worst_case(case):
    expected = case.expected()
    assert case.found(ReferenceMachine) == expected
    assert case.found(NativeMachine) == expected
