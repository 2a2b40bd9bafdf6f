"""bitreplay unlearn STATE PICTURES: remove pictures from what was learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, saving, show
from bitreplay.cli.corrections import PERMANENT, classes_named, print_classes
from bitreplay.cli.reading import SkippedFiles, read_all
from bitreplay.learner import Learner
from bitreplay.statefile import Lock


def unlearn(
    state: options.State,
    pictures: Annotated[
        list[Path],
        typer.Argument(help="Folder with one folder per class; or, with --label, pictures and folders of them."),
    ],
    label: Annotated[str | None, typer.Option(help="Class that the pictures were learned as.")] = None,
    model: options.ModelFile = None,
    skip_unreadable: options.SkipUnreadable = False,
    final: Annotated[
        bool, typer.Option("--final", help="Rewrite the earlier revision too, even without digests.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Remove pictures from a state (strategy exact), as if they had never been learned, bit for bit.

    With digests, pictures that were never learned are refused, and every revision is rewritten. Without them that
    cannot be checked, so the earlier revision is kept for rollback unless --final is given.
    """
    with Lock(state) as lock:
        learner = Learner.load(state, model)
        skipped = SkippedFiles(skip_unreadable)
        images, labels = read_all(pictures, label, learner.strategy.side, skipped)
        skipped.end()
        certain = learner.settings.digests
        if learner.strategy.unlearns and not certain:
            show.error(_unsure(state, final))
        with show.bar(quiet=json) as bar:
            learner.unlearn(images, classes_named(learner, labels), progress=bar, final=final or certain)
        saving.save(learner, state, lock)
    with saving.reporting(f"{state} is saved."):
        last = PERMANENT if final or certain else f" `bitreplay rollback {state}` brings it back."
        print_classes(learner, f"Unlearned {show.counted(len(labels), 'picture', 'pictures')}.", json, last)


def _unsure(state: Path, final: bool) -> str:
    after = "this cannot be undone" if final else "`rollback` undoes it; --final prevents that"
    return (
        f"{state} has no digests, so it cannot know whether these pictures were learned, or were unlearned before; "
        f"only what the sums prove impossible is refused; {after}."
    )
