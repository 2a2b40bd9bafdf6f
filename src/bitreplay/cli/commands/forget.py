"""bitreplay forget STATE CLASS: remove a class or a stored sample."""

from __future__ import annotations

from typing import Annotated

import typer

from bitreplay.cli import options, saving
from bitreplay.cli.corrections import PERMANENT, class_named, print_classes
from bitreplay.learner import Learner
from bitreplay.statefile import Lock


def forget(
    state: options.State,
    label: Annotated[str | None, typer.Argument(help="Class to forget.", show_default=False)] = None,
    sample: Annotated[int | None, typer.Option(help="Number of a stored sample to forget instead of a class.")] = None,
    model: options.ModelFile = None,
    json: options.Json = False,
) -> None:
    """Remove a class or a sample from every revision of the state; with replay, the tail's weights keep their
    training."""
    with Lock(state) as lock:
        learner = Learner.load(state, model)
        removed = learner.forget(None if label is None else class_named(learner, label), sample=sample)
        if sample is not None and not 0 <= sample < learner.samples_seen:
            raise ValueError(f"There has never been a sample {sample}; see bitreplay info {state} --json.")
        saving.save(learner, state, lock)
    stored = f"Forgotten: {label if sample is None else f'sample {sample}'}."
    with saving.reporting(f"{state} is saved."):
        missing = f"Sample {sample} was no longer stored; the earlier revision is removed too."
        print_classes(learner, stored if removed else missing, json, PERMANENT if removed else "")
