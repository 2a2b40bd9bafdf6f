"""bitreplay confusions STATE: which classes will be confused, from the class statistics alone."""

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
    """List the pairs of classes most likely to be confused, without test pictures (strategy exact)."""
    learner = Learner.load(state, model)
    confused, classes = learner.confusions(top), len(learner.labels)
    if json:
        pairs = [{"one": pair.one, "other": pair.other, "share": round(pair.share, 6)} for pair in confused]
        show.as_json({"state": str(state), "pairs": classes * (classes - 1) // 2, "confusions": pairs})
        return
    rows = [(escaped(pair.one), escaped(pair.other), f"{100 * pair.share:.1f} %") for pair in confused]
    show.say(show.table("expected confusions", ("class", "other class", "of either taken for the other"), rows, text=2))
