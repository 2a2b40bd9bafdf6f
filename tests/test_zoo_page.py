"""Figures of the zoo's page are those of the committed rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import mean

import pytest

from bitreplay import zoo

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "experiments" / "results"


def table(heading: str) -> dict[str, list[str]]:
    """The cells of each line below this heading, by the first of them."""
    lines = (ROOT / "docs" / "zoo.md").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(heading))
    rows: dict[str, list[str]] = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *others = (cell.strip() for cell in line.strip("|").split("|"))
        rows[first] = others
    return rows


def rows_of(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open() as file:
        return list(csv.DictReader(file))


def of_model(rows: list[dict[str, str]], name: str) -> list[dict[str, str]]:
    digest = zoo.find(f"{name}@1").digest[:12]
    return [row for row in rows if row["digest"] == digest]


@pytest.mark.parametrize("name", zoo.names())
def test_accuracy_and_size(name: str) -> None:
    row = of_model(rows_of("zoo_accuracy.csv"), name)[0]
    _, epochs, training, real, integer, size = table("| model | input |")[name]
    assert float(integer) == float(row["integer_top1"]) and float(real) == float(row["float_top1"])
    assert float(training.split()[0]) == float(row["noted_top1"]) and epochs
    assert float(size.split()[0]) == pytest.approx(zoo.find(f"{name}@1").path.stat().st_size / 1e6, abs=0.051)


@pytest.mark.parametrize("name", zoo.names())
def test_what_is_learned(name: str) -> None:
    line = table("| model | CIFAR-10, exact |")[name]
    usual = max(int(row["of_a_picture"]) for row in of_model(rows_of("exact.csv"), name))
    exact = {row["data"]: row for row in of_model(rows_of("exact.csv"), name) if int(row["of_a_picture"]) == usual}
    for place, data in ((0, "cifar10"), (2, "cifar100"), (4, "groceries")):
        assert float(line[place]) == float(exact[data]["final"])
    assert float(line[8].split()[0]) == pytest.approx(int(exact["groceries"]["state_bytes"]) / 1e6, abs=0.051)
    replayed = [
        float(row["final"])
        for row in of_model(rows_of("groceries.csv"), name)
        if row["strategy"] == "replay" and row["least_steps"] == "40" and row["rate"] == "fitted"
        if (row["bits"], row["code_bits"], row["per_class"]) == ("8/1/16", "1", "30")
        and row["level"] == zoo.find(f"{name}@1").levels[-1]
    ]
    assert line[5] == "" if len(replayed) < 3 else float(line[5]) == pytest.approx(mean(replayed), abs=0.051)
    for place, data in ((1, "cifar10"), (3, "cifar100")):
        found = runs(name, data, "replay", augment=True, bits="8/1/16")
        assert line[place] == "" if not found else float(line[place]) == pytest.approx(mean(found), abs=0.051)
    assert {float(line[6])} == set(runs(name, "sessions", "exact", scenario="nc", held=False))


def runs(name: str, data: str, strategy: str, **config: object) -> list[float]:
    """Final accuracies with all images."""
    digest, wanted = zoo.find(f"{name}@1").digest[:12], {"data": data, "strategy": strategy, "images": None} | config
    rows = (json.loads(line) for line in (RESULTS / "runs.jsonl").read_text().splitlines())
    usual = {"gain": None, "order": None, "held": False, "level": None, "per_class": 30}
    return [
        row["final"]
        for row in rows
        if row["digest"] == digest and all(row["config"].get(k) == v for k, v in (usual | wanted).items())
    ]


def test_trials() -> None:
    """Each line of the trials is a row of its own."""
    rows = [{key: value for key, value in row.items() if value} for row in rows_of("zoo_trials.csv")]
    lines = (ROOT / "docs" / "zoo.md").read_text().split("## What bounds it")[1].splitlines()
    trials = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.count("|") == 9][2:]
    assert len(trials) == 9
    for *_, training, _, held, groceries in trials:
        assert any(
            float(row["cifar100_held_out_exact"]) == pytest.approx(float(held), abs=0.0501)
            and (not training or float(row["train_top1"]) == pytest.approx(float(training), abs=0.0501))
            and (not groceries or float(row["groceries_held_out_exact"]) == pytest.approx(float(groceries), abs=0.0501))
            for row in rows
            if "cifar100_held_out_exact" in row and (not training or "train_top1" in row)
            if not groceries or "groceries_held_out_exact" in row
        )
