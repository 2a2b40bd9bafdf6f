"""The command that is called most, read without typer.

    bitreplay predict STATE PICTURE... [--json | --csv] [--model MODEL]

Loading typer and making what converts its values takes 0.15 s of CPU, as much as numpy and our own modules together.
Any other word goes to typer: whatever is wrong, it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

FLAGS = {"--json": "json", "--csv": "csv"}


def asked(words: Sequence[str]) -> Callable[[], None] | None:
    """What these words ask for, if they are this command and nothing else.

    >>> asked(["predict", "STATE"]), asked(["predict", "STATE", "1.png", "--top", "3"]), asked(["--version"])
    (None, None, None)
    """
    if list(words[:1]) != ["predict"]:
        return None
    left, paths, model, flags = list(words[1:]), list[Path](), list[str](), set[str]()
    while left:
        word = left.pop(0)
        if word in FLAGS:
            flags.add(FLAGS[word])
        elif word == "--model" and left and not left[0].startswith("-"):
            model.append(left.pop(0))
        elif not word.startswith("-") or word == "-":
            paths.append(Path(word))
        else:
            return None
    if len(paths) < 2 or len(flags) > 1 or len(model) > 1:
        return None
    from bitreplay.cli import answering, show
    from bitreplay.learner import Learner

    def predict() -> None:
        state, *places = paths
        show.hush(False)
        learner = Learner.load(state, model[0] if model else None)
        answering.answer(learner, state, places, csv="csv" in flags, json="json" in flags)

    return predict
