"""`bitreplay bench`: our speed and memory beside the peers', measured in the same run.

main(json=False, only=(), rounds=20, compiled=True)     prints rows, returns 0
run(bench, only)                                        yields rows

One file a question. Peers (PyTorch, ONNX Runtime) come with `pip install "bitreplay[bench]"`; one that is absent is
reported as absent.
"""

from __future__ import annotations

import json as json_format
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bitreplay.bench import forward, memory, minibatch, quicknet, tail, threads, trained
from bitreplay.bench.peers import Bench
from bitreplay.bench.row import Row, table
from bitreplay.bench.timing import pin
from bitreplay.engine import native

QUESTIONS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "forward": forward.rows,
    "tail": tail.rows,
    "trained": trained.rows,
    "quicknet": quicknet.rows,
    "minibatch": minibatch.rows,
    "threads": threads.rows,
    "memory": memory.rows,
}


def main(*, json: bool = False, only: Sequence[str] = (), rounds: int = 20, compiled: bool = True) -> int:
    """Run the questions (all, or those named) and print the rows as a table or as JSON."""
    unknown = [name for name in only if name not in QUESTIONS]
    if unknown:
        raise ValueError(f"There is no question {unknown[0]!r}; expected some of {', '.join(QUESTIONS)}.")
    pinned = pin()
    bench = Bench(rounds, compiled)
    found = []
    for name in only or QUESTIONS:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        found += list(QUESTIONS[name](bench))
    about = machine(bench, pinned)
    if json:
        print(json_format.dumps({"about": about, "rows": [row.as_dict() for row in found]}, indent=2))
    else:
        print(table(found))
        print("; ".join(f"{key} {value}" for key, value in about.items()))
    return 0


def machine(bench: Bench, pinned: str) -> dict[str, Any]:
    """What the figures depend on."""
    return {
        "cpu": _cpu(),
        "instruction set": native.path(),
        "core": pinned,
        "clock": "CPU time of one thread, best of several turns",
        **{name: bench.versions.get(name, bench.absent.get(name)) for name in ("PyTorch", "ONNX Runtime")},
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
