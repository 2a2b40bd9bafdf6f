"""Committed rows, found by their fields, and numbers as pages tell them.

Numbers are decimal, as written in the rows, and halves are rounded up: 84.85 is told as 84.9, whatever the nearest
binary fraction is.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Any

from networks import published

from bitreplay import zoo

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = ROOT / "experiments" / "results"
BENCHMARKS = ROOT / "benchmarks" / "results"
Row = dict[str, Any]
MODELS = {"ReAct-18": "react18", "ReAct-18 at 64x64": "react18_64", "Bi-Real-18": "bireal18", "VGG-Small": "vgg_small",
          "QuickNet": "quicknet", "QuickNetLarge": "quicknet_large", "react_tiny": "react_tiny"}  # fmt: skip


@cache
def rows(path: Path) -> tuple[Row, ...]:
    """Of a CSV file as text, of lines of JSON as they are, of a benchmark's JSON what it lists."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return tuple(csv.DictReader(file))
    if path.suffix == ".jsonl":
        return tuple(json.loads(line, parse_float=Decimal) for line in path.read_text().splitlines())
    return tuple(json.loads(path.read_text(), parse_float=Decimal)["rows"])


@cache
def weights(name: str) -> zoo.Model:
    """A plain name is the first generation, which published rows are of; others are name@generation."""
    return zoo.find(published(name))


def digest(name: str) -> str:
    """As rows have it."""
    return weights(name).digest[:12]


def named(title: str) -> str:
    """With the generation, where a plain name has come to mean a later one."""
    name = MODELS.get(title, title)
    if zoo.generations(name)[-1] == 1:
        return title
    return f"{name}@1" if title == name else f"{title} (`{name}@1`)"


def found(path: Path, **asked: object) -> list[Row]:
    """The rows with these fields, in the file's order."""
    return [row for row in rows(path) if asked.items() <= row.items()]


def exact(data: str, model: str, **asked: str) -> Row:
    """The row of exact with the most numbers (or with those asked for); all orders of the classes end alike."""
    own = found(EXPERIMENTS / "exact.csv", data=data, digest=digest(model), **asked)
    most = max(int(row["n_features"]) for row in own)
    own = [row for row in own if int(row["n_features"]) == most]
    only((row["final"], row["hash"]) for row in own)
    return own[0]


def groceries(model: str, strategy: str, **changed: str) -> list[Row]:
    """Rows by gradients on groceries at the usual settings, a seed each."""
    usual = {"strategy": strategy, "latent_bits": "1", "bits": "8/1/16", "learning_rate": "fitted", "min_steps": "40",
             "epochs": "20" if strategy == "joint" else "5", "memory_per_class": "30",
             "replay_layer": weights(model).replay_layers[-1]}  # fmt: skip
    return one_a_seed(found(EXPERIMENTS / "groceries.csv", digest=digest(model), **usual | changed))


def runs(data: str, model: str, strategy: str, **changed: object) -> list[Row]:
    """Rows of runs.jsonl with all pictures at the usual settings, a seed each; of joint training at any gain."""
    usual = {"data": data, "strategy": strategy, "scenario": "nc", "images": None, "latent_bits": 1, "bits": "8/1/16",
             "memory_per_class": 30, "epochs": 5, "held": False, "replay_layer": None, "order": None, "gradients": None,
             "augment": strategy in ("replay", "cwr")}  # fmt: skip
    if strategy != "joint":
        usual["gain"] = None
    every = found(EXPERIMENTS / "runs.jsonl", digest=digest(model))
    return one_a_seed([row for row in every if (usual | changed).items() <= row["config"].items()])


def one_a_seed(own: list[Row]) -> list[Row]:
    if len({row["seed"] for row in own}) != len(own):
        raise LookupError(f"more than one row a seed: {own}")
    return own


def finals(data: str, model: str, strategy: str) -> list[Decimal]:
    """Final accuracies by gradients, a seed each."""
    own = groceries(model, strategy) if data == "groceries" else runs(data, model, strategy)
    return [Decimal(row["final"]) for row in own]


def forgotten(data: str, strategy: str, models: Sequence[str] = ("react18", "bireal18")) -> str:
    """Points by which the classes of an experience fall from their best, mean over experiences; the least and the most
    of these networks and the orders of the classes."""
    each = [row["forgetting"] for model in models for row in runs(data, model, strategy)]
    return " to ".join(dict.fromkeys((told(min(each)), told(max(each)))))


def few(model: str, strategy: str, pictures: int) -> list[Row]:
    """Each of the 14 kinds of fruit held out once."""
    own = found(EXPERIMENTS / "groceries_few.csv", model=model, strategy=strategy, pictures=str(pictures))
    if len({row["held"] for row in own}) != 14 or len(own) != 14:
        raise LookupError(f"groceries_few.csv: {len(own)} rows of {model}, {strategy}, {pictures}")
    return own


def bench(file: str, work: str, peer: str) -> Row:
    return only_row(found(BENCHMARKS / file, work=work, peer=peer))


def only(values: Iterable[Any]) -> Any:
    """The one value that all of them are."""
    (value,) = set(values)
    return value


def only_row(own: Sequence[Row]) -> Row:
    (row,) = own
    return row


def mean(values: Iterable[Any]) -> Decimal:
    each = [Decimal(value) for value in values]
    return sum(each, Decimal()) / len(each)


def told(value: Any, digits: int = 1) -> str:
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,}"


def three(value: Decimal) -> str:
    """To three digits."""
    return f"{value:.3g}"


def table(header: Sequence[object], lines: Iterable[Sequence[object]]) -> str:
    """Markdown; an empty cell has one space."""
    made = ["|" + "".join(f" {cell} |" if cell != "" else " |" for cell in line) for line in (header, *lines)]
    return "\n".join([made[0], "|" + "---|" * len(header), *made[1:]])
