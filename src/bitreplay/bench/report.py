"""Rows on standard output, each flushed when it is found: who stops the run keeps what was measured.

As JSON it is one object, {"about": ..., "rows": [...]}, with one row a line. A process that is killed leaves it open;
its lines are whole all the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bitreplay.bench.row import Row, head, line


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
        self._between = ""
        print(f'{{"about": {json.dumps(about)},\n"rows": [', end="", flush=True)

    def row(self, row: Row) -> None:
        print(f"{self._between}\n{json.dumps(row.as_dict())}", end="", flush=True)
        self._between = ","

    def end(self) -> None:
        print("\n]}", flush=True)
