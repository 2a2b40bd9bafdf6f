"""docs/unknown.md says what the committed rows say, and where its bars hold."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "unknown.md").read_text()
ROWS = [json.loads(line) for line in (ROOT / "experiments" / "results" / "unknown.jsonl").read_text().splitlines()]
MODELS = {"ReAct-18": "react18", "Bi-Real-18": "bireal18", "QuickNet": "quicknet", "react_tiny": "react_tiny"}
HALF = 0.0501  # of the last digit shown


def cells(heading: str) -> list[list[str]]:
    """The rows of a table; an empty first cell repeats the one above."""
    lines = PAGE[PAGE.index(heading) :].split("\n\n")[0].split("\n")[2:]
    found: list[list[str]] = []
    for line in lines:
        row = [cell.strip() for cell in line.strip("|").split("|")]
        found.append([row[0] or found[-1][0], *row[1:]])
    return found


def held_out(model: str) -> list[dict[str, Any]]:
    rows = [row for row in ROWS if (row["question"], row["data"], row["model"]) == ("refused", "groceries", model)]
    assert len({row["held"] for row in rows}) == len(rows) == 14
    return rows


def refused(model: str, part: str, share: str) -> float:
    return mean(row[part][share] for row in held_out(model))


def test_refusals_are_means_over_all_classes_held_out():
    rows = [row for row in cells("| model | asked for |") if "replay" not in row[0]]
    assert len(rows) >= 8
    for model, percent, *shown in rows:
        share = str(int(percent) / 100)
        found = [refused(MODELS[model], part, share) for part in ("known", "new", "far")]
        assert all(abs(float(cell) - value) <= HALF for cell, value in zip(shown, found, strict=True)), (model, percent)


def test_the_bars_hold_where_the_page_says_so():
    for model, shares in (("react18", ("0.01", "0.02", "0.05", "0.1")), ("bireal18", ("0.01", "0.02", "0.05"))):
        for share in shares:
            assert abs(refused(model, "known", share) - 100 * float(share)) <= 2, (model, share)
        assert refused(model, "far", "0.05") >= 95
    stored = 12.6  # of a new fruit by replay's rule, at 10.5 % of the known
    assert refused("react18", "new", "0.05") > stored and refused("react18", "new", "0.1") > 1.5 * stored


def test_calibration_errors_and_correlations_are_the_rows():
    by = {(row["data"], row["model"]): row for row in ROWS if row["question"] == "sure"}
    for data, model, *shown in cells("| data | model | error |"):
        row = by["cifar10" if data.startswith("CIFAR-10") else "groceries", MODELS[model]]
        for cell, value in zip(shown, (row["error"], row["error_without"]), strict=True):
            assert abs(float(cell) - value) <= HALF, (data, model)
    found = [row["confusions_rank_correlation"] for (data, _), row in by.items() if data == "groceries"]
    assert f"{min(found):.2f} to {max(found):.2f} on groceries" in PAGE
    assert f"{by['cifar10', 'react18']['confusions_rank_correlation']:.2f} on\nCIFAR-10" in PAGE
