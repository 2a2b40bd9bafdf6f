"""bitreplay rollback STATE: undo the last save."""

from __future__ import annotations

from bitreplay.cli import options, saving, show
from bitreplay.cli.corrections import print_classes
from bitreplay.learner import Learner


def rollback(state: options.State, model: options.ModelFile = None, json: options.Json = False) -> None:
    """Restore the state before the last save."""
    with saving.uninterrupted():
        learner = Learner.rollback(state, model)
    with saving.reporting(f"{state} is rolled back."):
        experiences = show.counted(learner.experiences, "experience", "experiences")
        print_classes(learner, f"{state} is back at {experiences}.", json)
