"""docs/unknown.md's figures."""

from __future__ import annotations

from decimal import Decimal

from bitreplay import zoo
from figures.committed import (
    EXPERIMENTS,
    MODELS,
    Row,
    few,
    format_number,
    mean,
    rows_where,
    single_row,
    table,
    title_of,
)

PAGE = "docs/unknown.md"
ROWS = EXPERIMENTS / "unknown.jsonl"
DEFAULT = f"`{zoo.DEFAULT}`, the default"
NAMES = MODELS | {DEFAULT: zoo.DEFAULT}
ASKED = {DEFAULT: (1, 2, 5, 10, 20), "ReAct-18": (1, 2, 5, 10, 20), "Bi-Real-18": (5, 10), "QuickNet": (5, 10),
         "react_tiny": (5, 10)}  # fmt: skip
PARTS = ("known", "new", "far")


def _title(name: str) -> str:
    return name if name == DEFAULT else title_of(name)


def _refused(model: str, part: str, percent: int, data: str = "groceries") -> Decimal:
    """Mean over all classes held out in turn, in percent."""
    matches = rows_where(ROWS, question="refused", data=data, model=model)
    if len({row["held"] for row in matches}) != 14 or len(matches) != 14:
        raise LookupError(f"unknown.jsonl: {len(matches)} rows of {model} on {data}")
    return mean(row[part][str(percent / 100)] for row in matches)


def refused() -> str:
    lines: list[list[object]] = []
    for title, shares in ASKED.items():
        for at, percent in enumerate(shares):
            each = [format_number(_refused(NAMES[title], part, percent)) for part in PARTS]
            lines.append(["" if at else _title(title), percent, *each])
    stored = few("bireal18", "replay", 0)
    each = [format_number(mean(row[f"{part}_refused"] for row in stored)) for part in PARTS]
    lines.append(["`replay`, Bi-Real-18", 5, *each])
    return table(["model", "asked for", "known", "new fruit", "no fruit"], lines)


def off(model: str) -> str:
    """How far the refusals of known pictures are from the share asked for, up to 10 %, at the most."""
    return format_number(max(abs(_refused(model, "known", percent) - percent) for percent in (1, 2, 5, 10)))


def rejected(model: str, part: str, percent: str) -> str:
    return format_number(_refused(model, part, int(percent)))


def too_few(model: str, percent: str) -> str:
    return format_number(int(percent) - _refused(model, "known", int(percent)))


def too_many(model: str, percent: str) -> str:
    return format_number(_refused(model, "known", int(percent)) - int(percent))


def stored_new() -> str:
    """Of a new fruit, by the rule of replay."""
    return format_number(mean(row["new_refused"] for row in few("bireal18", "replay", 0)))


def chosen_on(percent: str) -> str:
    """Refused there of the known, by the models."""
    models = sorted({row["model"] for row in rows_where(ROWS, question="refused", data="npz")})
    each = [_refused(model, "known", int(percent), "npz") for model in models]
    return f"{format_number(min(each))} to {format_number(max(each))} %"


def kind(held: str) -> str:
    """ReAct-18, asked for 10 %."""
    row = single_row(rows_where(ROWS, question="refused", data="groceries", model="react18", held=held))
    return format_number(row["new"]["0.1"], 0)


def _sure(data: str, title: str) -> Row:
    return single_row(rows_where(ROWS, question="sure", data=data, model=NAMES[title]))


def errors() -> str:
    lines = []
    for title, data, names in (
        ("CIFAR-10, 50,000 pictures learned", "cifar10", ("ReAct-18",)),
        ("groceries, 732", "groceries", (DEFAULT, "Bi-Real-18", "ReAct-18", "react_tiny", "QuickNet")),
    ):
        for at, name in enumerate(names):
            row = _sure(data, name)
            each = [format_number(row[what]) for what in ("error", "error_without")]
            lines.append(["" if at else title, _title(name), *each])
    return table(["data", "model", "error", "with T = 1"], lines)


def correlation(data: str) -> str:
    each = [row["confusions_rank_correlation"] for row in rows_where(ROWS, question="sure", data=data)]
    return " to ".join(format_number(value, 2) for value in sorted({min(each), max(each)}))
