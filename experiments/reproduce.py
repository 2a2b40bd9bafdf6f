"""Make the rows of experiments that are missing: what `bitreplay reproduce` calls."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from grid import ROWS, describe_run, finish, missing
from listed import EXPERIMENTS
from on_ray import finish_on
from run import Run

QUICK_RUNS = 4
QUICK = {"images": 12, "tested": 20, "augment": False, "epochs": 1, "min_steps": 4, "held": False}


def runs_of(name: str, seeds: int, quick: bool = False) -> list[Run]:
    """All runs of an experiment; or a few of those on CIFAR-10 in whole numbers, with few pictures and one seed."""
    module = EXPERIMENTS[name]
    if hasattr(module, "all_runs"):
        runs = module.all_runs()
    else:
        max_seeds = 1 if quick else seeds
        every = [(run, min(max_seeds, table.seeds or max_seeds)) for table in module.TABLES for run in table.runs]
        runs = list(dict.fromkeys(run.changed(seed=s) for s in range(max_seeds) for run, count in every if s < count))
    if not quick:
        return runs
    light = [run for run in runs if run.data == "cifar10" and run.bits != "float" and not run.bits.startswith("32")]
    return list(dict.fromkeys(run.changed(**QUICK) for run in light))[:QUICK_RUNS]


def reproduce(
    names: Sequence[str], quick: bool, seeds: int, jobs: int, device: str, say: Callable[[str], None],
    ray: str | None = None,
) -> None:  # fmt: skip
    runs = [run for name in names for run in runs_of(name, seeds, quick)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quick.jsonl" if quick else ROWS
        cache_folder = Path(folder) / "codes" if quick else Path("runs") / "codes"
        left = missing(runs, path)
        say(f"{len(runs)} runs, {len(left)} without a row")
        results = (
            finish(left, path, cache_folder, jobs, device)
            if ray is None
            else finish_on(ray, left, path, cache_folder, device)
        )
        for number, result in enumerate(results, 1):
            run = Run(**result["config"], seed=result["seed"])
            say(f"{number} of {len(left)}: {describe_run(run)}: {result['final']:.2f} %, {result['cpu_seconds']} s")
