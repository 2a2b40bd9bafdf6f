"""bitreplay reproduce: make the rows of the paper's experiments that are missing, from a checkout."""

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
        typer.Argument(help="Names of experiments, such as table1, or all; for another name the command lists them."),
    ],
    quick: Annotated[
        bool, typer.Option(help="A few small runs of each, to see it work; their rows are not kept.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="Runs of each setting, each with a seed of its own.", min=1)] = 3,
    jobs: Annotated[int, typer.Option(help="Runs at a time, each on one core.", min=1)] = 1,
    device: Annotated[str, typer.Option(help="Where tails in floating point run.")] = "cpu",
    ray: options.Ray = None,
) -> None:
    """Repeat experiments of the paper (docs/results.md). Rows that exist are kept, so a cut-off run goes on."""
    module = experiments()
    known = list(module.EXPERIMENTS)
    for name in names:
        if name not in (*known, "all"):
            raise ValueError(f"There is no experiment {name!r}; expected {', '.join(known)} or all.")
    module.reproduce(known if "all" in names else names, quick, seeds, jobs, device, say=print, ray=ray)


def experiments() -> Any:
    """The module of that name beside the package's source; an installed package has none."""
    if not EXPERIMENTS.is_dir():
        raise ValueError(
            "The experiments are not part of an installed package; in a clone, `pip install -e .` has them."
        )
    sys.path.insert(0, str(EXPERIMENTS))
    return importlib.import_module("reproduce")
