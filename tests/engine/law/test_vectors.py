"""Every vector file of docs/law: the oracle, the reference and the native core give what it says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from bitreplay.engine.native import NativeMachine
from bitreplay.engine.operations import OPERATIONS
from bitreplay.engine.program import Program
from bitreplay.engine.reference import ReferenceMachine
from tests.engine.law import make_vectors
from tests.engine.law.case import Case, Held
from tests.engine.law.functions import FUNCTIONS

FILES = {path.stem: json.loads(path.read_text()) for path in sorted(make_vectors.FOLDER.glob("*.json"))}
ALL = [(name, case) for name, cases in FILES.items() for case in cases]
OF_FUNCTIONS = [pytest.param(case, id=f"{name}: {case['name']}") for name, case in ALL if "function" in case]
OF_OPERATIONS = [pytest.param(case, id=f"{name}: {case['name']}") for name, case in ALL if "operation" in case]


def read(case: dict[str, Any]) -> Case:
    tensors = {role: held and Held(**held) for role, held in case["tensors"].items()}
    return Case(case["name"], case["operation"], tensors, case["attributes"], case["run"])


def test_the_files_are_what_the_oracles_say():
    """`python -m tests.engine.law.make_vectors` writes them; an expected value edited by hand is found here."""
    assert {name: json.loads(json.dumps(cases)) for name, cases in make_vectors.files().items()} == FILES


@pytest.mark.parametrize("case", OF_FUNCTIONS)
def test_a_function_gives_the_vector(case):
    _, tested = FUNCTIONS[case["function"]]
    assert tested(**case["inputs"]) == case["expected"]


@pytest.mark.parametrize("machine", [ReferenceMachine, NativeMachine])
@pytest.mark.parametrize("case", OF_OPERATIONS)
def test_an_operation_gives_the_vector(case: dict[str, Any], machine: Callable[[Program], Any]):
    assert OPERATIONS[case["operation"]].code == case["code"]
    assert read(case).found(machine) == case["expected"]


def test_every_function_has_a_vector():
    assert {case["function"] for _, case in ALL if "function" in case} == set(FUNCTIONS)
