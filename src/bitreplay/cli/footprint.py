"""The bytes of a learner, part by part."""

from __future__ import annotations

from bitreplay.learner import Learner


def footprint(learner: Learner) -> dict[str, int]:
    """The bytes of the model file, of working memory and of what the strategy stores."""
    model = {} if learner.model is None else {"model_file": learner.model.path.stat().st_size}
    return model | learner.strategy.footprint()
