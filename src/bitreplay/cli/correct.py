"""bitreplay forget, rename, rollback: take data back, correct a mistake, undo the last save."""

from __future__ import annotations

from typing import Annotated

import typer

from bitreplay.classes import Name
from bitreplay.cli import options, saving, show
from bitreplay.learner import Learner
from bitreplay.statefile import Lock


def forget(
    state: options.State,
    label: Annotated[str | None, typer.Argument(help="Class to forget.", show_default=False)] = None,
    sample: Annotated[int | None, typer.Option(help="Number of a stored sample to forget instead.")] = None,
    model: options.ModelFile = None,
    json: options.Json = False,
) -> None:
    """Remove a class or a sample from every generation of the state; the tail's weights are not unlearned."""
    with Lock(state) as lock:
        learner = Learner.load(state, model)
        found = learner.forget(None if label is None else known(learner, label), sample=sample)
        if sample is not None and not 0 <= sample < learner.samples_seen:
            raise ValueError(f"There was never a sample {sample}; see bitreplay info {state} --json.")
        saving.save(learner, state, lock)
    stored = f"Forgotten: {label if sample is None else f'sample {sample}'}."
    with saving.answering(f"{state} is saved."):
        _tell(learner, stored if found else f"Sample {sample} was stored no more; the state before is gone too.", json)


def rename(
    state: options.State,
    old: Annotated[str, typer.Argument(help="Class as it is named now.")],
    new: Annotated[str, typer.Argument(help="Its new name.")],
    model: options.ModelFile = None,
    json: options.Json = False,
) -> None:
    """Give a class another name."""
    with Lock(state) as lock:
        learner = Learner.load(state, model)
        learner.rename(known(learner, old), new)
        saving.save(learner, state, lock)
    with saving.answering(f"{state} is saved."):
        _tell(learner, f"{old} is now {new}.", json)


def rollback(state: options.State, model: options.ModelFile = None, json: options.Json = False) -> None:
    """Go back to the state before the last save."""
    with saving.uninterrupted():
        learner = Learner.rollback(state, model)
    with saving.answering(f"{state} is rolled back."):
        experiences = show.counted(learner.experiences, "experience", "experiences")
        _tell(learner, f"{state} is back at {experiences}.", json)


def known(learner: Learner, text: str) -> Name:
    """The class that a text on the command line names; whole numbers may be names too."""
    for name in learner.labels:
        if str(name) == text:
            return name
    return text


def _tell(learner: Learner, sentence: str, json: bool) -> None:
    if json:
        show.as_json({"classes": learner.labels, "experiences": learner.experiences, "hash": learner.state_hash()})
    else:
        show.say(f"{sentence} Known classes: {show.names(learner.labels)}.")
