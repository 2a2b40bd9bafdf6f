"""Accuracies for `bitreplay plan --budget`, from the committed rows: src/bitreplay/planning/expected.csv.

Runs as a user would make them: the library's strategies at their own rates. Exact: all images of CIFAR-10, or groceries
where there is no other row (results/exact.csv), also with projected numbers (results/projection.csv). The others: 500
images a class of CIFAR-10. QuickNets: object sessions, exact too, so that one may be compared with the other.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from run import Run
from tables import SEEDS, Rows

from bitreplay import zoo
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.planning.expected import FILE, HEADER
from bitreplay.strategies import STRATEGIES

OF_SUMS = {("exact", "cifar10")}  # results/exact.csv has more of them
TITLES = {"cifar10": "CIFAR-10", "sessions": "object sessions", "groceries": "groceries"}
SET = {"quicknet": "sessions", "quicknet_large": "sessions"}  # of the others: CIFAR-10
RESULTS = Path(__file__).parent / "results"


def usual(run: Run) -> Run:
    """What a row must be, but for what the planner tells apart."""
    images = 500 if run.data == "cifar10" else None
    return Run(data=run.data, model=run.model, strategy=run.strategy, images=images, replay_layer=run.replay_layer,
               latent_bits=run.latent_bits, bits=run.bits, memory_per_class=run.memory_per_class)  # fmt: skip


def by_gradients(rows: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    all_rows = Rows(rows)
    runs = [
        Run(**row["config"])
        for row in rows
        if row["config"]["strategy"] in STRATEGIES and (row["config"]["strategy"], row["config"]["data"]) not in OF_SUMS
    ]
    runs = [run for run in runs if run == usual(run) and run.data == SET.get(run.model, "cifar10")]
    for run in dict.fromkeys(run for run in runs if run.bits != "float"):
        if figures := all_rows.of(run, SEEDS):
            title = TITLES[run.data] + (", 500 a class" if run.images else "")
            yield (run.model, figures.rows[0]["digest"], title, run.strategy, run.replay_layer or "", run.latent_bits,
                   run.bits, run.memory_per_class, "", "", len(figures.rows), f"{figures.final:.1f}")  # fmt: skip


def by_sums(elsewhere: set[str]) -> Iterator[tuple[Any, ...]]:
    """But for the weights that are `elsewhere`. The order of classes does not matter, so one seed is all of them."""
    finals = {
        (each["data"], each["model"], each["digest"], each["feature_layers"]): each["final"] for each in _csv("exact")
    }
    on_cifar = {model for data, model, _, _ in finals if data == "cifar10"}
    for (data, model, digest, feature_layers), final in finals.items():
        if digest not in elsewhere and data == ("cifar10" if model in on_cifar else "groceries"):
            other_layers = "" if feature_layers == default_feature_layers(zoo.find(digest).graph) else feature_layers
            yield model, digest, TITLES[data], "exact", "", 1, "8/1/16", 30, other_layers, "", 1, f"{float(final):.1f}"
    for each in _csv("projection"):
        if each["data"] == "cifar10" and each["axes"] == "principal" and each["pictures"] == "50000":
            accuracy = f"{float(each['accuracy']):.1f}"
            yield (
                each["model"],
                each["digest"],
                "CIFAR-10",
                "exact",
                "",
                1,
                "8/1/16",
                30,
                "",
                each["n_components"],
                1,
                accuracy,
            )


def _csv(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def write(rows: list[dict[str, Any]], path: Path = FILE) -> None:
    lines = list(by_gradients(rows))
    lines += by_sums({line[1] for line in lines if "exact" in line})
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(sorted(lines, key=str))
