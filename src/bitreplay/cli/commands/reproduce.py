"""bitreplay reproduce: compute missing rows of the paper's experiments, from a checkout."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay.cli import options

EXPERIMENTS = Path(__file__).resolve().parents[4] / "experiments"


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(help="Experiments, such as table1, or all; an unknown name lists them."),
    ],
    quick: Annotated[
        bool,
        typer.Option(help="A few small runs of each, compared with the published ones; their rows are not stored."),
    ] = False,
    seeds: Annotated[int, typer.Option(help="Runs per setting, each with its own seed.", min=1)] = 3,
    jobs: Annotated[int, typer.Option(help="Parallel runs, each on one core.", min=1)] = 1,
    device: Annotated[str, typer.Option(help="PyTorch device for tails in floating point.")] = "cpu",
    ray: options.Ray = None,
) -> None:
    """Repeat experiments of the paper (docs/results.md).

    Existing rows are kept, so an interrupted run continues. With --quick the exit code is 1 if a figure differs.
    """
    module = experiments()
    known = list(module.EXPERIMENTS)
    for name in names:
        if name not in (*known, "all"):
            raise ValueError(f"There is no experiment {name!r}; expected {', '.join(known)} or all.")
    if not module.reproduce(names, quick, seeds, jobs, device, say=print, ray=ray):
        raise typer.Exit(1)


def experiments() -> Any:
    """The module `reproduce` of a checkout; an installed package has none."""
    if not EXPERIMENTS.is_dir():
        raise ValueError(
            "The experiments are not part of the installed package; they need a clone and `pip install -e .`."
        )
    sys.path.insert(0, str(EXPERIMENTS))
    return importlib.import_module("reproduce")
