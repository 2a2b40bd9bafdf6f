"""docs/serve.md's figures."""

from __future__ import annotations

from figures.committed import BENCHMARKS, found, only_row, table, told

PAGE = "docs/serve.md"


def clients() -> str:
    lines = []
    for model in ("react_tiny", "react18", "bireal18", "vgg_small"):
        with_pause, without = (
            only_row(found(BENCHMARKS / "serve.csv", model=model, **{"pause ms": pause})) for pause in ("150", "0")
        )
        times = [told(with_pause[name], 0) for name in ("answers a second", "p50 ms", "p95 ms", "p99 ms")]
        lines.append([f"`{model}`", *times, *(told(without[name], 0) for name in ("answers a second", "p95 ms"))])
    header = ["", "answers a second", "median", "95 %", "99 %", "without a pause: answers a second", "95 %"]
    return table(header, lines)
