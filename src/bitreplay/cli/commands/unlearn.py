"""bitreplay unlearn STATE PICTURES: the state that never saw them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, saving, show
from bitreplay.cli.corrections import FOR_GOOD, all_known, tell
from bitreplay.cli.reading import SkippedFiles, gathered
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
    final: Annotated[
        bool, typer.Option("--final", help="Rewrite the generation before too, also without digests.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Take pictures out of a state of the strategy exact, bit for bit.

    With digests what was never learned is refused, and every generation is rewritten. Without them the sums cannot
    tell: the generation before stays for rollback, unless it is --final.
    """
    with Lock(state) as lock:
        learner = Learner.load(state, model)
        skipped = SkippedFiles(skip_unreadable)
        images, labels = gathered(pictures, label, learner.strategy.side, skipped)
        skipped.end()
        certain = learner.settings.digests
        if learner.strategy.unlearns and not certain:
            show.complain(_unsure(state, final))
        with show.bar(quiet=json) as bar:
            learner.unlearn(images, all_known(learner, labels), progress=bar, final=final or certain)
        saving.save(learner, state, lock)
    with saving.answering(f"{state} is saved."):
        last = FOR_GOOD if final or certain else f" `bitreplay rollback {state}` brings it back."
        tell(learner, f"Unlearned {show.counted(len(labels), 'picture', 'pictures')}.", json, last)


def _unsure(state: Path, final: bool) -> str:
    after = "it cannot be undone" if final else "the state before stays for `rollback`, and --final rewrites it"
    return (
        f"{state} keeps no digests, so it cannot know whether these pictures were learned, or were unlearned before; "
        f"what the sums prove impossible is refused, and {after}."
    )
