"""bitreplay rename STATE OLD NEW: rename a class."""

from __future__ import annotations

from typing import Annotated

import typer

from bitreplay.cli import options, saving
from bitreplay.cli.corrections import class_named, print_classes
from bitreplay.learner import Learner
from bitreplay.statefile import Lock


def rename(
    state: options.State,
    old: Annotated[str, typer.Argument(help="Its present name.")],
    new: Annotated[str, typer.Argument(help="Its new name.")],
    model: options.ModelFile = None,
    json: options.Json = False,
) -> None:
    """Rename a class."""
    with Lock(state) as lock:
        learner = Learner.load(state, model)
        learner.rename(class_named(learner, old), new)
        saving.save(learner, state, lock)
    with saving.reporting(f"{state} is saved."):
        print_classes(learner, f"{old} is now {new}.", json)
