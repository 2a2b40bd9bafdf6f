"""Every accuracy of docs/exact.md's tables is that of a committed row, or the mean of three."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "exact.md").read_text()
RESULTS = ROOT / "experiments" / "results"
SETS = {"CIFAR-10": "cifar10", "CIFAR-100": "cifar100", "groceries": "groceries"}
MODELS = {"ReAct-18": "react18", "Bi-Real-18": "bireal18", "VGG-Small": "vgg_small", "QuickNet": "quicknet",
          "QuickNetLarge": "quicknet_large", "react_tiny": "react_tiny"}  # fmt: skip


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def table(first: str) -> Iterator[list[str]]:
    """The lines of a table; an empty first cell repeats the one above."""
    above = ""
    for line in TEXT[TEXT.index(first) :].split("\n\n")[0].split("\n")[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        above = cells[0] or above
        yield [above, *cells[1:]]


def replayed(data: str, model: str, strategy: str) -> list[float]:
    if data == "groceries":
        usual = {"model": model, "strategy": strategy, "bits": "8/1/16", "rate": "fitted", "epochs": "5",
                 "least_steps": "40", "per_class": "30"}  # fmt: skip
        return [float(row["final"]) for row in rows("groceries.csv") if usual.items() <= row.items()]
    asked = {"data": data, "model": model, "strategy": strategy, "images": None, "augment": True, "bits": "8/1/16",
             "code_bits": 1, "per_class": 30, "gain": None, "scenario": "nc", "level": None}  # fmt: skip
    runs = [json.loads(line) for line in (RESULTS / "runs.jsonl").read_text().splitlines()]
    return [run["final"] for run in runs if asked.items() <= run["config"].items()]


@pytest.mark.parametrize("line", list(table("| set | model | exact |")), ids=lambda line: f"{line[0][:9]} {line[1]}")
def test_accuracies_beside_replay(line):
    data, model = SETS[line[0].split(",")[0].split(" (")[0]], MODELS[line[1].split(" (")[0]]
    finals = {row["final"] for row in rows("exact.csv") if (row["data"], row["model"]) == (data, model)}
    assert float(line[2]) in map(float, finals)
    for told, strategy in zip(line[3:], ("replay", "cwr"), strict=True):
        if told:
            found = replayed(data, model, strategy)
            assert any(abs(mean(found[at : at + 3]) - float(told)) <= 0.0051 for at in range(0, len(found), 3)), found


@pytest.mark.parametrize("line", list(table("| numbers | d | CIFAR-10 |")), ids=lambda line: line[0])
def test_fewer_numbers(line):
    for told, data in zip(line[2:5], SETS.values(), strict=True):
        asked = {
            "data": data,
            "model": "react18",
            "numbers": line[0].strip("`"),
            "of_a_picture": line[1].replace(",", ""),
        }
        assert float(told) in [float(row["final"]) for row in rows("exact.csv") if asked.items() <= row.items()]


@pytest.mark.parametrize("line", list(table("| pictures shown |")), ids=lambda line: f"{line[0]} {line[1]}")
def test_few_pictures(line):
    strategy, model = line[1].split(", ")
    asked = {"pictures": line[0], "strategy": strategy, "model": MODELS[model]}
    found = [row for row in rows("groceries_few.csv") if asked.items() <= row.items()]
    assert len(found) % 14 == 0, "each of the 14 classes held out once, with each generation of the weights"
    told = []
    for at in range(0, len(found), 14):
        each = [mean(float(row[name]) for row in found[at : at + 14]) for name in ("new_accuracy", "others_after")]
        told.append([f"{value:.1f}" for value in (*each, mean(each))])
    assert line[2:] in told


def test_small_memories():
    lines = [(line, model) for line in table("| numbers | CIFAR-10 | CIFAR-100 |") for model in ("react18",)]
    found = {(r["data"], r["model"], r["axes"], r["numbers"], r["pictures"]): r for r in rows("projection.csv")}
    for line, model in lines[:-1]:
        for told, data in zip(line[1:3], ("cifar10", "cifar100"), strict=True):
            ours, random = (
                float(found[data, model, axes, line[0].replace(",", ""), "50000"]["accuracy"])
                for axes in ("principal", "signs")
            )
            assert told == f"{ours:.2f} ({random:.2f})"
        row = found["cifar10", model, "principal", line[0].replace(",", ""), "50000"]
        assert line[3:] == [
            f"{int(row[name]):,}" for name in ("products_bytes", "class_sums_bytes", "projection_bytes")
        ]
    for line in table("| numbers | Bi-Real-18, CIFAR-10 |"):
        for told, model in zip(line[1:], ("bireal18", "react_tiny"), strict=True):
            ours, random = (
                float(found["cifar10", model, a, line[0], "50000"]["accuracy"]) for a in ("principal", "signs")
            )
            assert told == f"{ours:.2f} ({random:.2f})"
