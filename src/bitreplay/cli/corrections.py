"""What commands share that name classes or correct a state."""

from __future__ import annotations

from bitreplay.cli import show
from bitreplay.learner import Learner
from bitreplay.learning.classes import Name

PERMANENT = " `rollback` does not bring it back."


def class_named(learner: Learner, text: str) -> Name:
    """The class that an argument or a folder names. In Python, labels may be integers too: "3" is the class "3" if that
    is known, else the class 3 if that is."""
    numbers = {str(name): name for name in learner.labels if not isinstance(name, str)}
    return text if text in learner.labels else numbers.get(text, text)


def classes_named(learner: Learner, texts: list[str]) -> list[Name]:
    names = {text: class_named(learner, text) for text in set(texts)}
    return [names[text] for text in texts]


def print_classes(learner: Learner, sentence: str, json: bool, after: str = "") -> None:
    if json:
        show.as_json({"classes": learner.labels, "experiences": learner.experiences,
                      "hash": learner.state_hash()})  # fmt: skip
    else:
        show.say(f"{sentence} Known classes: {show.names(learner.labels)}.{after}")
