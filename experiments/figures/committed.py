"""Committed rows, selected by their fields, and numbers formatted for the pages.

Numbers are decimal, as written in the rows, and halves are rounded up: 84.85 becomes 84.9, whatever the nearest binary
fraction is.
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
    """The rows of a CSV file, as text, of lines of JSON, or of a benchmark's JSON."""
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
    """The digest of its weights, as rows have it."""
    return weights(name).digest[:12]


def title_of(title: str) -> str:
    """The title of a network, with the generation where the plain name means a later one."""
    name = MODELS.get(title, title)
    if zoo.generations(name)[-1] == 1:
        return title
    return f"{name}@1" if title == name else f"{title} (`{name}@1`)"


def rows_where(path: Path, **fields: object) -> list[Row]:
    """The rows with these values, in the order of the file."""
    return [row for row in rows(path) if fields.items() <= row.items()]


def exact(data: str, model: str, **fields: str) -> Row:
    """The row of exact with the most features, or with these fields; all orders of the classes end alike."""
    matches = rows_where(EXPERIMENTS / "exact.csv", data=data, digest=digest(model), **fields)
    n_features = max(int(row["n_features"]) for row in matches)
    matches = [row for row in matches if int(row["n_features"]) == n_features]
    single_value((row["final"], row["hash"]) for row in matches)
    return matches[0]


def groceries(model: str, strategy: str, **changed: str) -> list[Row]:
    """Rows by gradients on groceries at the usual settings, one per seed."""
    usual = {"strategy": strategy, "latent_bits": "1", "bits": "8/1/16", "learning_rate": "fitted", "min_steps": "40",
             "epochs": "20" if strategy == "joint" else "5", "memory_per_class": "30",
             "replay_layer": weights(model).replay_layers[-1]}  # fmt: skip
    return check_seeds(rows_where(EXPERIMENTS / "groceries.csv", digest=digest(model), **usual | changed))


def runs(data: str, model: str, strategy: str, **changed: object) -> list[Row]:
    """Rows of runs.jsonl with all pictures at the usual settings, one per seed; of joint training at any gain."""
    usual = {"data": data, "strategy": strategy, "scenario": "nc", "images": None, "latent_bits": 1, "bits": "8/1/16",
             "memory_per_class": 30, "epochs": 5, "held": False, "replay_layer": None, "order": None, "gradients": None,
             "augment": strategy in ("replay", "cwr")}  # fmt: skip
    if strategy != "joint":
        usual["gain"] = None
    every = rows_where(EXPERIMENTS / "runs.jsonl", digest=digest(model))
    return check_seeds([row for row in every if (usual | changed).items() <= row["config"].items()])


def check_seeds(matches: list[Row]) -> list[Row]:
    """The same rows; raises LookupError if a seed has two."""
    if len({row["seed"] for row in matches}) != len(matches):
        raise LookupError(f"more than one row per seed: {matches}")
    return matches


def finals(data: str, model: str, strategy: str) -> list[Decimal]:
    """Final accuracies by gradients, one per seed."""
    matches = groceries(model, strategy) if data == "groceries" else runs(data, model, strategy)
    return [Decimal(row["final"]) for row in matches]


def forgetting_range(data: str, strategy: str, models: Sequence[str] = ("react18", "bireal18")) -> str:
    """Points by which the classes of an experience fall from their best, mean over experiences: the range over
    these networks and the orders of the classes."""
    each = [row["forgetting"] for model in models for row in runs(data, model, strategy)]
    return " to ".join(dict.fromkeys((format_number(min(each)), format_number(max(each)))))


def few(model: str, strategy: str, pictures: int) -> list[Row]:
    """The rows in which each of the 14 kinds of fruit is held out once."""
    matches = rows_where(EXPERIMENTS / "groceries_few.csv", model=model, strategy=strategy, pictures=str(pictures))
    if len({row["held"] for row in matches}) != 14 or len(matches) != 14:
        raise LookupError(f"groceries_few.csv: {len(matches)} rows of {model}, {strategy}, {pictures}")
    return matches


def bench(file: str, work: str, peer: str) -> Row:
    return single_row(rows_where(BENCHMARKS / file, work=work, peer=peer))


def single_value(values: Iterable[Any]) -> Any:
    """The value that all of them have."""
    (value,) = set(values)
    return value


def single_row(matches: Sequence[Row]) -> Row:
    (row,) = matches
    return row


def mean(values: Iterable[Any]) -> Decimal:
    each = [Decimal(value) for value in values]
    return sum(each, Decimal()) / len(each)


def format_number(value: Any, digits: int = 1) -> str:
    """With this many decimals, and commas between thousands."""
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,}"


def three_digits(value: Decimal) -> str:
    """With three significant digits."""
    return f"{value:.3g}"


def table(header: Sequence[object], lines: Iterable[Sequence[object]]) -> str:
    """Markdown; an empty cell has one space."""
    first, *rest = ("|" + "".join(f" {cell} |" if cell != "" else " |" for cell in line) for line in (header, *lines))
    return "\n".join([first, "|" + "---|" * len(header), *rest])
