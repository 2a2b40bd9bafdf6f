"""How much memory does a training step take? Each side in a fresh process (bench/resident.py says what is counted)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import ours
from benchmarks.bench.peers import Bench
from benchmarks.bench.row import Row
from bitreplay.engine.bit_widths import Bits

MINIBATCH = 32
MIB = 1 << 20


def rows(bench: Bench) -> Iterator[Row]:
    program = ours.tail_program(ours.bireal18(), ours.REPLAY_LAYER, Bits(8, 1, 16), MINIBATCH)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tail.program"
        file.write_bytes(program.to_bytes())
        mine = child("ours", str(file), str(MINIBATCH))
    theirs = None if "PyTorch" in bench.absent else child("torch", str(MINIBATCH))
    work = f"tail step of {MINIBATCH}, binary weights frozen: peak above base"
    note = bench.absent.get("PyTorch", "weights counted on both sides")
    yield Row("memory", work, "PyTorch fp32", "MiB", mine / MIB, theirs and theirs / MIB, 10, note)


def child(*arguments: str) -> int:
    command = [sys.executable, "-m", "benchmarks.bench.resident", *arguments]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
