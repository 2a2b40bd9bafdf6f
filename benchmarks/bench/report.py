"""Rows on standard output, each flushed when it is measured: a run that is stopped keeps its rows.

As JSON it is one object, {"about": ..., "rows": [...], "targets": a, "met": b}, with one row per line: b of a targets
are met. A process that is killed leaves the object open, but its lines are complete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.bench.row import Row, head, line


class TextReport:
    """Columns of fixed width, and at the end what the figures depend on."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        self._about = about
        print(head(), flush=True)

    def row(self, row: Row) -> None:
        print(line(row), flush=True)

    def end(self) -> None:
        print("; ".join(f"{key} {value}" for key, value in self._about.items()), flush=True)


class JsonReport:
    def __init__(self, about: Mapping[str, Any]) -> None:
        self._between, self._targets, self._met = "", 0, 0
        print(f'{{"about": {json.dumps(about)},\n"rows": [', end="", flush=True)

    def row(self, row: Row) -> None:
        print(f"{self._between}\n{json.dumps(row.as_dict())}", end="", flush=True)
        self._between = ","
        self._targets += row.holds is not None
        self._met += row.holds is True

    def end(self) -> None:
        print(f'\n],\n"targets": {self._targets}, "met": {self._met}}}', flush=True)
