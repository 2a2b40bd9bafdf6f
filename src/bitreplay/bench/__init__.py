"""`bitreplay bench`: our speed and memory beside the peers', measured in the same run.

main(json=False, only=(), rounds=20, compiled=True)     prints rows as they are found, returns 0
run(bench, only)                                        yields them

One file a question. Peers (PyTorch, ONNX Runtime) come with `pip install "bitreplay[bench]"`; one that is absent is
reported as absent.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bitreplay.bench import forward, memory, minibatch, quicknet, sizes, tail, threads, trained
from bitreplay.bench.peers import Bench
from bitreplay.bench.report import JsonReport, TextReport
from bitreplay.bench.row import Row
from bitreplay.bench.timing import pin
from bitreplay.engine import native

STOPPED = 130  # what shells report of a program that Ctrl-C ended

QUESTIONS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "forward": forward.rows,
    "tail": tail.rows,
    "trained": trained.rows,
    "quicknet": quicknet.rows,
    "sizes": sizes.rows,
    "minibatch": minibatch.rows,
    "threads": threads.rows,
    "memory": memory.rows,
}


def main(*, json: bool = False, only: Sequence[str] = (), rounds: int = 20, compiled: bool = True) -> int:
    """Run the questions (all, or those named) and print each row as soon as it is measured; a stop ends the output.

    On stderr: what is measured now, and which peers are missing. Returns 0, or STOPPED after Ctrl-C.
    """
    unknown = [name for name in only if name not in QUESTIONS]
    if unknown:
        raise ValueError(f"There is no question {unknown[0]!r}; expected some of {', '.join(QUESTIONS)}.")
    if rounds < 1:
        raise ValueError(f"The number of rounds is {rounds}; expected a whole number from 1 on.")
    pinned = pin()
    bench = Bench(rounds, compiled, say=say)
    for name, why in bench.absent.items():
        say(f"{name} is {why}; its columns stay empty (pip install 'bitreplay[bench]')")
    report = (JsonReport if json else TextReport)(machine(bench, pinned))
    try:
        for row in run(bench, only):
            report.row(row)
        return 0
    except KeyboardInterrupt:
        say("stopped")
        return STOPPED
    finally:
        report.end()


def run(bench: Bench, only: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of all questions, or of those named, as they are found."""
    chosen = list(only or QUESTIONS)
    for number, name in enumerate(chosen, 1):
        bench.say(f"{name}, question {number} of {len(chosen)}")
        yield from QUESTIONS[name](bench)


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


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
