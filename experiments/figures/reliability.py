"""docs/reliability.md's figures."""

from __future__ import annotations

from figures.committed import BENCHMARKS, format_number, rows, table

PAGE = "docs/reliability.md"


def verify() -> str:
    lines = []
    for row in rows(BENCHMARKS / "verify.csv"):
        times = [format_number(row[name]) for name in ("write_ms", "verify_ms", "factor_ms")]
        lines.append([format_number(row["n_features"], 0), format_number(row["bytes"], 0), *times])
    return table(["features", "bytes", "write and sync", "verify", "factor"], lines)
