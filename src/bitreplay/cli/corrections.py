"""What commands share that name classes, and those that correct a state."""

from __future__ import annotations

from bitreplay.cli import show
from bitreplay.learner import Learner
from bitreplay.learning.classes import Name

FOR_GOOD = " `rollback` does not bring it back."


def known(learner: Learner, text: str) -> Name:
    """The class that a text on the command line, or a folder, names. Whole numbers may be names too, as Python's users
    have them: of 3 and "3" the one that is known is meant, and the text if both are."""
    numbers = {str(name): name for name in learner.labels if not isinstance(name, str)}
    return text if text in learner.labels else numbers.get(text, text)


def all_known(learner: Learner, texts: list[str]) -> list[Name]:
    names = {text: known(learner, text) for text in set(texts)}
    return [names[text] for text in texts]


def tell(learner: Learner, sentence: str, json: bool, last: str = "") -> None:
    if json:
        show.as_json({"labels": learner.labels, "classes": learner.labels, "experiences": learner.experiences,
                      "hash": learner.state_hash()})  # fmt: skip
    else:
        show.say(f"{sentence} Known classes: {show.names(learner.labels)}.{last}")
