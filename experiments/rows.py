"""Rows of experiments: printed, and appended to a CSV file that begins with its header."""

from __future__ import annotations

import csv
import fcntl
from collections.abc import Sequence
from pathlib import Path

from bitreplay.learner import Learner
from bitreplay.statefile import hash_of_format_2

RESULTS = Path(__file__).parent / "results"


def append(path: Path, header: Sequence[str], row: Sequence[object]) -> None:
    """Several processes may append to one file."""
    print(*row, flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(header)
        writer.writerow(row)


def row_hash(learner: Learner) -> str:
    """The first digits of a state's hash: of format 2, for good, so that old and new rows can be compared."""
    return hash_of_format_2(learner.state())[:12]
