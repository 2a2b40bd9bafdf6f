"""bitreplay rollback STATE: undo the last save."""

from __future__ import annotations

from bitreplay.cli import options, saving, show
from bitreplay.cli.corrections import tell
from bitreplay.learner import Learner


def rollback(state: options.State, model: options.ModelFile = None, json: options.Json = False) -> None:
    """Go back to the state before the last save."""
    with saving.uninterrupted():
        learner = Learner.rollback(state, model)
    with saving.answering(f"{state} is rolled back."):
        experiences = show.counted(learner.experiences, "experience", "experiences")
        tell(learner, f"{state} is back at {experiences}.", json)
