"""docs/reliability.md's figures."""

from __future__ import annotations

from figures.committed import BENCHMARKS, rows, table, told

PAGE = "docs/reliability.md"


def verify() -> str:
    lines = []
    for row in rows(BENCHMARKS / "verify.csv"):
        times = [told(row[name]) for name in ("write_ms", "verify_ms", "factor_ms")]
        lines.append([told(row["n_features"], 0), told(row["bytes"], 0), *times])
    return table(["features", "bytes", "write and sync", "verify", "factor"], lines)
