"""What forget, rename and rollback share."""

from __future__ import annotations

from bitreplay.classes import Name
from bitreplay.cli import show
from bitreplay.learner import Learner

FOR_GOOD = " `rollback` does not bring it back."


def known(learner: Learner, text: str) -> Name:
    """The class that a text on the command line names; whole numbers may be names too."""
    for name in learner.labels:
        if str(name) == text:
            return name
    return text


def tell(learner: Learner, sentence: str, json: bool, last: str = "") -> None:
    if json:
        show.as_json({"labels": learner.labels, "classes": learner.labels, "experiences": learner.experiences,
                      "hash": learner.state_hash()})  # fmt: skip
    else:
        show.say(f"{sentence} Known classes: {show.names(learner.labels)}.{last}")
