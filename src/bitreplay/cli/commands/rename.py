"""bitreplay rename STATE OLD NEW: correct a class's name."""

from __future__ import annotations

from typing import Annotated

import typer

from bitreplay.cli import options, saving
from bitreplay.cli.corrections import known, tell
from bitreplay.learner import Learner
from bitreplay.statefile import Lock


def rename(
    state: options.State,
    old: Annotated[str, typer.Argument(help="Class as it is named now.")],
    new: Annotated[str, typer.Argument(help="Its new name.")],
    model: options.ModelFile = None,
    json: options.Json = False,
) -> None:
    """Give a class another name."""
    with Lock(state) as lock:
        learner = Learner.load(state, model)
        learner.rename(known(learner, old), new)
        saving.save(learner, state, lock)
    with saving.answering(f"{state} is saved."):
        tell(learner, f"{old} is now {new}.", json)
