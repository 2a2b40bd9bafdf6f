"""Many runs on several processes: those that have no row yet, in the order given; rows are appended as they finish."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from networks import published
from run import Run, row

from bitreplay import zoo

ROWS = Path(__file__).parent / "results" / "runs.jsonl"


def rows(path: Path = ROWS) -> list[dict[str, Any]]:
    """All that are there; a last line that was cut off is left out."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    return [json.loads(line) for line in lines[:-1] if line]


def run_of(row: dict[str, Any]) -> Run:
    """The run that made a row."""
    return Run(**row["config"], seed=row["seed"])


def add(path: Path, result: dict[str, Any]) -> None:
    """Several processes may append to one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(result) + "\n")


def missing(runs: Iterable[Run], path: Path) -> list[Run]:
    """Those without a row made with the weights that the model has now."""
    done = {(run_of(result), result["digest"]) for result in rows(path)}
    return [run for run in dict.fromkeys(runs) if (run, digest(run.model)) not in done]


@lru_cache
def digest(model: str) -> str:
    return zoo.find(published(model)).digest[:12]


def finish(
    runs: Iterable[Run], path: Path, cache_folder: Path, jobs: int = 1, device: str = "cpu"
) -> Iterator[dict[str, Any]]:
    """Make the missing rows, and yield each as it is added."""
    left = missing(runs, path)
    if jobs == 1:
        for run in left:
            yield _one(run, path, cache_folder, device)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(partial(_one, path=path, cache_folder=cache_folder, device=device), left)


def _one(run: Run, path: Path, cache_folder: Path, device: str) -> dict[str, Any]:
    result = row(run, cache_folder, device)
    add(path, result)
    return result


def describe_run(run: Run) -> str:
    """What differs from the default run, and the seed."""
    usual = Run()
    fields = [(field.name, getattr(run, field.name)) for field in dataclasses.fields(run) if field.name != "seed"]
    parts = [f"{name}={value}" for name, value in fields if name == "model" or value != getattr(usual, name)]
    return f"{' '.join(parts)} seed={run.seed}"
