"""Make the rows of experiments that are missing: what `bitreplay reproduce` calls.

With `quick` a few small runs of each are made and judged by results/quick.json, which has the accuracy after each
experience of these runs as they were published: whoever repeats them sees "as published" or "differs". Tables that
need no run (Table 1, and Table 2's committed times) are printed as they are drawn.

    python experiments/reproduce.py     writes results/quick.json anew, where a change of the law is meant
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from grid import ROWS, describe_run, finish, missing
from listed import EXPERIMENTS, ON_REQUEST
from on_ray import finish_on
from run import Run
from tables import Rows

QUICK_RUNS = 4
EXPECTED = Path(__file__).parent / "results" / "quick.json"
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
) -> bool:  # fmt: skip
    """Whether no quick run differs from what was published."""
    names = [name for name in EXPERIMENTS if name not in ON_REQUEST] if "all" in names else names
    for name in names:
        for line in without_runs(name):
            say(line)
    runs = list(dict.fromkeys(run for name in names for run in runs_of(name, seeds, quick)))
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
        expected, different = json.loads(EXPECTED.read_text()), 0
        for number, result in enumerate(results, 1):
            run = Run(**result["config"], seed=result["seed"])
            verdict = judged(run, result["after"], expected) if quick else ""
            different += verdict.startswith(", differs")
            figures = f"{result['final']:.2f} %, {result['cpu_seconds']} s{verdict}"
            say(f"{number} of {len(left)}: {describe_run(run)}: {figures}")
    if quick and runs:
        say(f"{different} of {len(left)} runs differ from what was published." if different else "All as published.")
    return not different


def without_runs(name: str) -> list[str]:
    """The tables of an experiment whose rows no run makes."""
    module = EXPERIMENTS[name]
    return module.section(Rows([])) if not module.TABLES and hasattr(module, "section") else []


def judged(run: Run, after: list[float], expected: dict[str, list[float]]) -> str:
    published = expected.get(describe_run(run))
    if published is None:
        return ", not published"
    return ", as published" if after == published else f", differs: published {published[-1]:.2f} %"


def write_expectations() -> None:
    runs = dict.fromkeys(run for name in EXPERIMENTS for run in runs_of(name, 1, quick=True))
    with tempfile.TemporaryDirectory() as folder:
        results = list(finish(runs, Path(folder) / "quick.jsonl", Path(folder) / "codes"))
    table = {describe_run(Run(**result["config"], seed=result["seed"])): result["after"] for result in results}
    EXPECTED.write_text(json.dumps(dict(sorted(table.items())), indent=1) + "\n")


if __name__ == "__main__":
    write_expectations()
