"""bitreplay confusions STATE: what will be taken for what, from the sums alone."""

from __future__ import annotations

from typing import Annotated

import typer

from bitreplay.arguments import escaped
from bitreplay.cli import options, show
from bitreplay.learner import Learner


def confusions(
    state: options.State,
    model: options.ModelFile = None,
    top: Annotated[int, typer.Option(min=1, help="How many pairs of classes to show.")] = 10,
    json: options.Json = False,
) -> None:
    """Say which classes are expected to be confused, before a mistake is made (strategy exact)."""
    learner = Learner.load(state, model)
    found, classes = learner.confusions(top), len(learner.labels)
    if json:
        pairs = [{"one": pair.one, "other": pair.other, "share": round(pair.share, 6)} for pair in found]
        show.as_json({"state": str(state), "pairs": classes * (classes - 1) // 2, "confusions": pairs})
        return
    rows = [(escaped(pair.one), escaped(pair.other), f"{100 * pair.share:.1f} %") for pair in found]
    show.say(show.table("expected confusions", ("class", "and", "of either taken for the other"), rows, text=2))
