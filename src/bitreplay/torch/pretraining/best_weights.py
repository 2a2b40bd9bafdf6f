"""Choose the weights that a run keeps at its end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from torch import nn

from bitreplay.torch.pretraining.average import RunningAverage


def keep_best(
    model: nn.Module,
    averaged: RunningAverage | None,
    recalibrate: Callable[[], None],
    score: Callable[[], float | None],
) -> dict[str, Any]:
    """Keep the last weights with their running statistics, or with new ones, or the running average of the weights.

    The best `score` on held-out images wins, the later of equals; without scores the last of the three.
    `recalibrate` estimates the statistics of the current weights.
    """
    candidates = [("running", score(), copy.deepcopy(model.state_dict()))]
    recalibrate()
    candidates.append(("last", score(), copy.deepcopy(model.state_dict())))
    if averaged is not None:
        averaged.exchange(model)
        recalibrate()
        candidates.append(("average", score(), copy.deepcopy(model.state_dict())))
    best = max(range(len(candidates)), key=lambda k: (candidates[k][1] or 0.0, k))
    model.load_state_dict(candidates[best][2])
    return {"kept": candidates[best][0], "held_out": {name: value for name, value, _ in candidates}}
