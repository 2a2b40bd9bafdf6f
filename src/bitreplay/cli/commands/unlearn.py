"""bitreplay unlearn STATE PICTURES: the state that never saw them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, saving, show
from bitreplay.cli.corrections import FOR_GOOD, all_known, tell
from bitreplay.cli.reading import LeftOut, gathered
from bitreplay.learner import Learner
from bitreplay.statefile import Lock


def unlearn(
    state: options.State,
    pictures: Annotated[
        list[Path], typer.Argument(help="A folder a class in it; or pictures and folders of them, with --label.")
    ],
    label: Annotated[str | None, typer.Option(help="The class that the pictures were learned as.")] = None,
    model: options.ModelFile = None,
    skip_unreadable: options.SkipUnreadable = False,
    json: options.Json = False,
) -> None:
    """Take pictures out of every generation of a state of the strategy exact, bit for bit."""
    with Lock(state) as lock:
        learner = Learner.load(state, model)
        left_out = LeftOut(skip_unreadable)
        images, labels = gathered(pictures, label, learner.strategy.side, left_out)
        left_out.end()
        with show.bar(quiet=json) as bar:
            learner.unlearn(images, all_known(learner, labels), progress=bar)
        saving.save(learner, state, lock)
    with saving.answering(f"{state} is saved."):
        tell(learner, f"Unlearned {show.counted(len(labels), 'picture', 'pictures')}.", json, FOR_GOOD)
