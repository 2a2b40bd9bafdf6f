"""Writes the vector files docs/law/*.json: inputs from vectors/*.py, expected values from the oracles alone.

python -m tests.engine.law.make_vectors
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bitreplay.engine.operations import OPERATIONS
from tests.engine.law.case import Case, Held, modules, operation_files
from tests.engine.law.functions import FUNCTIONS
from tests.engine.law.vectors.sections import SECTIONS

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "law"


def operation_cases() -> list[Case]:
    """The cases of every file vectors/operations*.py and operation_*.py."""
    older = [case for module in modules("vectors/operations*.py") for case in module.CASES]
    return older + [case for module in operation_files() for case in module.VECTORS]


def held(tensor: Held | None) -> Any:
    return tensor and {"dtype": tensor.dtype, "per_sample": tensor.per_sample, "values": tensor.values}


def of_operation(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "operation": case.operation,
        "code": OPERATIONS[case.operation].code,
        "run": case.run,
        "attributes": case.attributes,
        "tensors": {role: held(case.tensors.get(role)) for role in case.roles()},
        "expected": case.expected(),
    }


def of_function(name: str, function: str, inputs: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "function": function, "inputs": inputs, "expected": FUNCTIONS[function][0](**inputs)}


def files() -> dict[str, list[dict[str, Any]]]:
    found = {name: [of_function(*case) for case in cases] for name, cases in SECTIONS.items()}
    for case in operation_cases():
        found.setdefault(case.operation, []).append(of_operation(case))
    return found


def text(cases: list[dict[str, Any]]) -> str:
    """One line a case."""
    return "[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, cases in files().items():
        (FOLDER / f"{name}.json").write_text(text(cases))
