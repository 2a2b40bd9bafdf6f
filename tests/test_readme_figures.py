"""The README's table of results says what the committed rows say."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from bitreplay import zoo

ROOT = Path(__file__).resolve().parents[1]
HALF = 0.0501  # of the last digit shown
RESULTS = ROOT / "experiments" / "results"
MODELS = {"ReAct-18": "react18", "Bi-Real-18": "bireal18", "QuickNet": "quicknet", "react_tiny": "react_tiny"}


def table() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Of each row of the table: set, model, cells by the heading."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines("| set | model | exact |")]
    heading, name = rows[0], ""
    for row in rows[2:]:
        name = re.sub(r"[-,( ].*", "", row[0].lower().replace("cifar-", "cifar")) or name
        yield name, MODELS[row[1]], dict(zip(heading[2:], row[2:], strict=True))


def lines(first: str) -> list[str]:
    text = (ROOT / "README.md").read_text()
    return text[text.index(first) :].split("\n\n")[0].split("\n")


def rows(name: str) -> list[dict[str, str]]:
    with open(RESULTS / name, newline="") as file:
        return list(csv.DictReader(file))


def newest(found: list[dict[str, Any]], model: str) -> list[dict[str, Any]]:
    """Of rows of several generations of the weights those of the last one that has any."""
    for generation in reversed(zoo.generations(model)):
        digest = zoo.find(f"{model}@{generation}").digest
        if own := [row for row in found if digest.startswith(row["digest"])]:
            return own
    return []


@pytest.mark.parametrize("data, model, cells", list(table()), ids=lambda part: part if isinstance(part, str) else "")
def test_exact_is_the_row_with_the_most_numbers(data, model, cells):
    found = [row for row in rows("exact.csv") if (row["data"], row["model"]) == (data, model)]
    found = newest(found, model)
    most = max(int(row["of_a_picture"]) for row in found)
    finals = {float(row["final"]) for row in found if int(row["of_a_picture"]) == most}
    assert len(finals) == 1, "three orders of the classes end in one state"
    assert abs(float(cells["exact"]) - finals.pop()) <= HALF


@pytest.mark.parametrize("strategy, column", [("replay", "1-bit replay"), ("cwr", "BNN+CWR*")])
def test_gradients_on_groceries_are_means_of_three_seeds(strategy, column):
    for data, model, cells in table():
        usual = {"model": model, "strategy": strategy, "code_bits": "1", "bits": "8/1/16", "rate": "fitted",
                 "epochs": "5", "least_steps": "40", "per_class": "30"}  # fmt: skip
        found = [row for row in rows("groceries.csv") if usual.items() <= row.items()]
        finals = [float(row["final"]) for row in newest(found, model)]
        if data == "groceries" and cells[column]:
            assert len(finals) == 3 and abs(float(cells[column]) - mean(finals)) <= HALF, (model, finals)


@pytest.mark.parametrize(
    "strategy, column", [("replay", "1-bit replay"), ("cwr", "BNN+CWR*"), ("joint", "joint training")]
)
def test_gradients_on_cifar_are_means_over_seeds_of_all_pictures(strategy, column):
    runs = [json.loads(line) for line in (RESULTS / "runs.jsonl").read_text().splitlines()]
    for data, model, cells in table():
        usual = {"data": data, "model": model, "strategy": strategy, "images": None, "code_bits": 1, "bits": "8/1/16",
                 "per_class": 30, "epochs": 5, "gain": None, "augment": strategy != "joint", "held": False,
                 "scenario": "nc", "level": None}  # fmt: skip
        finals = [run["final"] for run in newest([r for r in runs if usual.items() <= r["config"].items()], model)]
        if data != "groceries" and cells[column]:
            assert finals and abs(float(cells[column]) - mean(finals)) <= HALF, (model, finals)
