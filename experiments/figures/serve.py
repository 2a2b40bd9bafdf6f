"""docs/serve.md's figures."""

from __future__ import annotations

from figures.committed import BENCHMARKS, format_number, rows_where, single_row, table

PAGE = "docs/serve.md"


def clients() -> str:
    lines = []
    for model in ("react_tiny", "react18", "bireal18", "vgg_small"):
        with_pause, without = (
            single_row(rows_where(BENCHMARKS / "serve.csv", model=model, **{"pause ms": pause}))
            for pause in ("150", "0")
        )
        times = [format_number(with_pause[name], 0) for name in ("answers a second", "p50 ms", "p95 ms", "p99 ms")]
        lines.append(
            [f"`{model}`", *times, *(format_number(without[name], 0) for name in ("answers a second", "p95 ms"))]
        )
    header = ["", "answers a second", "median", "95 %", "99 %", "without a pause: answers a second", "95 %"]
    return table(header, lines)
