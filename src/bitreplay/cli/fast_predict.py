"""The command that is called most, parsed without Typer.

    bitreplay predict STATE PICTURE... [--json | --csv] [--model MODEL]

Typer takes 0.15 s of CPU to load, as much as NumPy and our modules together. Any other option is left to Typer, which
also reports what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

FLAGS = {"--json": "json", "--csv": "csv"}


def parse(arguments: Sequence[str]) -> Callable[[], None] | None:
    """The command, if the arguments are of the form above, else None.

    >>> parse(["predict", "STATE"]), parse(["predict", "STATE", "1.png", "--top", "3"]), parse(["--version"])
    (None, None, None)
    """
    if list(arguments[:1]) != ["predict"]:
        return None
    remaining, paths, model, flags = list(arguments[1:]), list[Path](), list[str](), set[str]()
    while remaining:
        argument = remaining.pop(0)
        if argument in FLAGS:
            flags.add(FLAGS[argument])
        elif argument == "--model" and remaining and not remaining[0].startswith("-"):
            model.append(remaining.pop(0))
        elif not argument.startswith("-") or argument == "-":
            paths.append(Path(argument))
        else:
            return None
    if len(paths) < 2 or len(flags) > 1 or len(model) > 1:
        return None
    from bitreplay.cli import predicting, show
    from bitreplay.learner import Learner

    def predict() -> None:
        state, *inputs = paths
        show.set_quiet(False)
        learner = Learner.load(state, model[0] if model else None)
        predicting.predict_files(learner, state, inputs, csv="csv" in flags, json="json" in flags)

    return predict
