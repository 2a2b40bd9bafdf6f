"""Every figure of the tables in docs/learner.md is that of rows: means of three seeds, or of 14 classes held out."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "learner.md").read_text()
MODELS = {"Bi-Real-18": "bireal18", "ReAct-18": "react18", "QuickNet": "quicknet", "QuickNetLarge": "quicknet_large",
          "VGG-Small": "vgg_small"}  # fmt: skip


def rows(path: str) -> list[dict[str, str]]:
    with (ROOT / path).open(newline="") as file:
        return list(csv.DictReader(file))


def table(first: str) -> Iterator[list[str]]:
    for line in TEXT[TEXT.index(first) :].split("\n\n")[0].split("\n")[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def groceries(model: str, strategy: str, **changed: str) -> list[dict[str, str]]:
    usual = {"model": model, "strategy": strategy, "bits": "8/1/16", "rate": "fitted", "least_steps": "40",
             "epochs": "20" if strategy == "joint" else "5", "per_class": "30"} | changed  # fmt: skip
    return [row for row in rows("experiments/results/groceries.csv") if usual.items() <= row.items()]


def means(found: list[dict[str, str]], name: str, count: int = 3, digits: int = 1) -> list[str]:
    """Of so many rows each, as a later generation of the weights adds its own behind them."""
    groups = [found[at : at + count] for at in range(0, len(found), count)]
    return [f"{mean(float(row[name]) for row in group):.{digits}f}" for group in groups if len(group) == count]


@pytest.mark.parametrize("line", list(table("| start | Bi-Real-18 | ReAct-18 |")), ids=lambda line: line[0])
def test_rates(line):
    for told, model in zip(line[1:], ("bireal18", "react18"), strict=True):
        if told:
            rate = "fitted" if line[0].startswith("fitted") else line[0]
            assert told in means(groceries(model, "replay", rate=rate), "final")


@pytest.mark.parametrize("line", list(table("| model, level | 1-bit replay |")), ids=lambda line: line[0])
def test_groceries(line):
    model = MODELS[line[0].split(" `")[0]]
    found = groceries(model, "replay")
    assert line[1] in means(found, "final") and line[6] in means(found, "seconds_learn", digits=0)
    each = [f"{float(row['final']):.1f}" for row in found]
    assert line[2].split(", ") in [each[at : at + 3] for at in range(0, len(each), 3)]
    for told, strategy in zip(line[3:6], ("cwr", "naive", "joint"), strict=True):
        assert not told or told in means(groceries(model, strategy), "final")


def test_least_steps_and_rates_of_the_baseline():
    told = [means(groceries("bireal18", "replay", least_steps=steps), "final")[0] for steps in ("20", "40", "80")]
    assert "20 steps end at {} %, 40 at {} %, 80 at {} %".format(*told) in TEXT
    told = [means(groceries("bireal18", "cwr", rate=rate), "final")[0] for rate in ("fitted", "1/500", "1/20")]
    assert "On groceries BNN+CWR* has {} %, at 1/500 {} % and at 1/20 {} %".format(*told) in TEXT


@pytest.mark.parametrize("line", list(table("| pictures | new class |")), ids=lambda line: line[0])
def test_few_pictures(line):
    asked = {"model": "bireal18", "strategy": "replay", "pictures": line[0]}
    found = [row for row in rows("experiments/results/groceries_few.csv") if asked.items() <= row.items()]
    for told, name in zip(line[1:], ("new_accuracy", "others_after", "taken_for_new", "seconds"), strict=True):
        assert told in means(found, name, 14), name


def test_what_is_refused():
    asked = {"model": "bireal18", "strategy": "replay", "pictures": "0"}
    found = [row for row in rows("experiments/results/groceries_few.csv") if asked.items() <= row.items()]
    for line, name in zip(
        table("| pictures | refused |"), ("known_refused", "far_refused", "new_refused"), strict=True
    ):
        assert line[1].removesuffix(" %") in means(found, name, 14)


@pytest.mark.parametrize("line", list(table("| samples at once |")), ids=lambda line: line[0])
def test_minibatches_in_parts(line):
    micro = line[0] if line[0].isdecimal() else "whole"
    found = {row["network"]: row for row in rows("benchmarks/results/micro.csv") if row["micro"] == micro}
    for at, model in enumerate(("react18", "bireal18", "quicknet"), 1):
        assert line[at] == f"{int(found[model]['arena bytes']) / 2**20:.1f} MiB"
        assert line[at + 3] == found[model]["CPU seconds a step"]
