"""bitreplay forget STATE CLASS: take data back."""

from __future__ import annotations

from typing import Annotated

import typer

from bitreplay.cli import options, saving
from bitreplay.cli.corrections import FOR_GOOD, known, tell
from bitreplay.learner import Learner
from bitreplay.statefile import Lock


def forget(
    state: options.State,
    label: Annotated[str | None, typer.Argument(help="Class to forget.", show_default=False)] = None,
    sample: Annotated[int | None, typer.Option(help="Number of a stored sample to forget instead.")] = None,
    model: options.ModelFile = None,
    json: options.Json = False,
) -> None:
    """Remove a class or a sample from every generation of the state, for good; the tail's weights are not unlearned."""
    with Lock(state) as lock:
        learner = Learner.load(state, model)
        found = learner.forget(None if label is None else known(learner, label), sample=sample)
        if sample is not None and not 0 <= sample < learner.samples_seen:
            raise ValueError(f"There was never a sample {sample}; see bitreplay info {state} --json.")
        saving.save(learner, state, lock)
    stored = f"Forgotten: {label if sample is None else f'sample {sample}'}."
    with saving.answering(f"{state} is saved."):
        gone = f"Sample {sample} was stored no more; the state before is gone too."
        tell(learner, stored if found else gone, json, FOR_GOOD if found else "")
