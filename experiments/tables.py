"""The results of an experiment, from rows: tables of runs, charts, claims; rendered as Markdown and SVG."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grid import run_of
from run import Run

TITLES = {"react18": "ReAct-18", "bireal18": "Bi-Real-18", "quicknet": "QuickNet", "quicknet_large": "QuickNetLarge"}
MODELS = ("react18", "bireal18")
SEEDS = (0, 1, 2)
GENERATION: dict[str, int] = {}  # of the weights whose rows are used, where it is not the first
SWEPT = 200  # images per class where many settings are compared


@dataclass(frozen=True)
class Table:
    """One line per label, one column per run; `show`: final, incremental, forgetting, memory or flipped.

    `seeds` limits their number, where a run takes long.
    """

    text: str
    columns: Sequence[str]
    lines: Mapping[str, Sequence[Run]]
    show: str = "final"
    seeds: int | None = None

    @property
    def runs(self) -> list[Run]:
        return [run for line in self.lines.values() for run in line]


@dataclass(frozen=True)
class Chart:
    """Accuracy after each experience, mean over seeds; one line per label."""

    name: str
    title: str
    lines: Mapping[str, Run]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, its figure and ours; the verdict: holds, does not hold, better."""

    claim: str
    theirs: str
    ours: str = "no rows yet"
    verdict: str = "open"


@dataclass(frozen=True)
class Figures:
    """The results of the seeds of one run."""

    rows: tuple[dict[str, Any], ...]

    def __bool__(self) -> bool:
        return bool(self.rows)

    @property
    def final(self) -> float:
        """Mean over the seeds, as are the others."""
        return statistics.mean(row["final"] for row in self.rows)

    @property
    def incremental(self) -> float:
        """Average incremental accuracy: on the classes seen so far, mean over experiences."""
        return statistics.mean(statistics.mean(seen_accuracies(row)) for row in self.rows)

    @property
    def forgetting(self) -> float:
        return statistics.mean(row["forgetting"] for row in self.rows)

    @property
    def memory(self) -> float:
        """Bytes of the replay memory or the statistics."""
        return statistics.mean(row["memory_bytes"] for row in self.rows)

    @property
    def after(self) -> list[float]:
        return [statistics.mean(values) for values in zip(*(row["after"] for row in self.rows), strict=True)]

    def format(self, show: str) -> str:
        if not self.rows:
            return "-"
        if show == "flipped":
            return ", ".join(f"{row['flipped']:,}" for row in self.rows)
        if show == "memory":
            return f"{self.memory:,.0f}"
        mean, finals = f"{getattr(self, show):.1f}", [row["final"] for row in self.rows]
        if len(finals) < len(SEEDS):
            return f"{mean} ({'one seed' if len(finals) == 1 else f'{len(finals)} seeds'})"
        return mean if show != "final" else f"{mean} ± {statistics.stdev(finals):.1f}"


def seen_accuracies(row: dict[str, Any]) -> list[float]:
    """Accuracy on the classes seen so far, after each experience: all others count as wrong in `after`."""
    if row["config"]["scenario"] == "ni":
        return list(row["after"])
    counts = row["classes"]
    return [value * sum(counts) / sum(counts[: number + 1]) for number, value in enumerate(row["after"])]


def generation_suffix(row: dict[str, Any]) -> str:
    return f"@{GENERATION.get(row['weights'].partition('@')[0], 1)}"


class Rows:
    """Rows of one generation of each network's weights, by the run that made them."""

    def __init__(self, rows: Iterable[dict[str, Any]], version: str | None = None) -> None:
        self._of = {run_of(row): row for row in rows if row["weights"].endswith(version or generation_suffix(row))}

    def of(self, run: Run, seeds: Sequence[int] = SEEDS) -> Figures:
        wanted = [run.changed(seed=seed) for seed in seeds]
        return Figures(tuple(self._of[each] for each in wanted if each in self._of))

    def difference(self, ours: Run, other: Run) -> float | None:
        """Final accuracy of one less that of the other, mean over the seeds that both have; None without any."""
        pairs = [(self._of.get(ours.changed(seed=s)), self._of.get(other.changed(seed=s))) for s in SEEDS]
        gaps = [one["final"] - two["final"] for one, two in pairs if one and two]
        return statistics.mean(gaps) if gaps else None

    def differences(self, ours: Sequence[Run], others: Sequence[Run]) -> list[float]:
        """Run by run, where there are any."""
        gaps = [self.difference(one, two) for one, two in zip(ours, others, strict=True)]
        return [gap for gap in gaps if gap is not None]

    def seeds(self, runs: Iterable[Run]) -> str:
        """A note for runs that have fewer than all seeds, else nothing."""
        low = min(len(figures.rows) for run in runs if (figures := self.of(run)))
        return "" if low == len(SEEDS) else " (one seed)" if low == 1 else f" ({low} seeds)"

    def best(self, runs: Iterable[Run], seeds: Sequence[int]) -> Run | None:
        """The one with the highest mean; None if one of them lacks a row."""
        figures_of = {run: self.of(run, seeds) for run in runs}
        if not all(len(figures.rows) == len(seeds) for figures in figures_of.values()):
            return None
        return max(figures_of, key=lambda run: figures_of[run].final)


def span(values: Sequence[float], form: str) -> str:
    """The range of the values, one figure where both ends read the same."""
    texts = (f"{value:{form}}" for value in (min(values), max(values)))
    low, high = (text if text.strip("+-0.") else text.lstrip("+-") for text in texts)  # zero has no sign
    return low if low == high else f"{low} to {high}"


def markdown(header: Sequence[str], body: Iterable[Sequence[object]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(str(cell) for cell in line) + " |" for line in body] + [""]


def render_table(table: Table, rows: Rows) -> list[str]:
    """Lines without any row are left out, and tables that would compare nothing."""
    cells = {label: [rows.of(run).format(table.show) for run in runs] for label, runs in table.lines.items()}
    body = [[label, *line] for label, line in cells.items() if any(cell != "-" for cell in line)]
    if len(body) < min(2, len(table.lines)):
        return []
    return [table.text, "", *markdown(["", *table.columns], body)]
