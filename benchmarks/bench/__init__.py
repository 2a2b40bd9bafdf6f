"""The engine's speed and memory beside PyTorch's and ONNX Runtime's, measured in the same run.

    python -m benchmarks.bench [--json] [--rounds 20] [--only tail]

One file per question. The peers come with `pip install --editable ".[bench]"`; a missing one is reported as absent.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bench import forward, memory, minibatch, quicknet, sizes, tail, threads, trained, whole
from benchmarks.bench.peers import Bench
from benchmarks.bench.report import JsonReport, TextReport
from benchmarks.bench.row import Row
from benchmarks.bench.timing import pin
from bitreplay.engine import native

STOPPED = 130  # what shells report of a program that Ctrl-C ended

QUESTIONS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "forward": forward.rows,
    "tail": tail.rows,
    "trained": trained.rows,
    "quicknet": quicknet.rows,
    "whole": whole.rows,
    "sizes": sizes.rows,
    "minibatch": minibatch.rows,
    "threads": threads.rows,
    "memory": memory.rows,
}


def main(*, json: bool = False, only: Sequence[str] = (), rounds: int = 20, compiled: bool = True) -> int:
    """Answer the questions (all, or those in `only`) and print each row as soon as it is measured.

    Progress and missing peers are reported on stderr. Returns 0, or STOPPED after Ctrl-C, which keeps the rows so far.
    """
    unknown = [name for name in only if name not in QUESTIONS]
    if unknown:
        raise ValueError(f"There is no question {unknown[0]!r}; expected some of {', '.join(QUESTIONS)}.")
    if rounds < 1:
        raise ValueError(f"The number of rounds is {rounds}; expected a positive integer.")
    pinned = pin()
    bench = Bench(rounds, compiled, say=log)
    for name, why in bench.absent.items():
        log(f"{name} is {why}; its columns stay empty (pip install --editable '.[bench]')")
    report = (JsonReport if json else TextReport)(machine(bench, pinned))
    try:
        for row in run(bench, only):
            report.row(row)
        return 0
    except KeyboardInterrupt:
        log("stopped")
        return STOPPED
    finally:
        report.end()


def run(bench: Bench, only: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the rows of all questions, or of those in `only`, as they are measured."""
    names = list(only or QUESTIONS)
    for number, name in enumerate(names, 1):
        bench.say(f"{name}, question {number} of {len(names)}")
        yield from QUESTIONS[name](bench)


def log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def machine(bench: Bench, pinned: str) -> dict[str, Any]:
    """What the figures depend on."""
    return {
        "cpu": _cpu(),
        "instruction set": native.isa(),
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
