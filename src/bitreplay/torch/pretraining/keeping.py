"""Which weights a run keeps at its end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from torch import nn

from bitreplay.torch.pretraining.average import RunningAverage


def keep_the_best(
    model: nn.Module,
    averaged: RunningAverage | None,
    settle: Callable[[], None],
    score: Callable[[], float | None],
) -> dict[str, Any]:
    """The last weights with the statistics they were trained with, or with new ones, or their running average: by the
    score on held-out images, the later of equals; without any, the last of these.

    `settle` estimates the statistics of the weights as they are anew.
    """
    found = [("running", score(), copy.deepcopy(model.state_dict()))]
    settle()
    found.append(("last", score(), copy.deepcopy(model.state_dict())))
    if averaged is not None:
        averaged.exchange(model)
        settle()
        found.append(("average", score(), copy.deepcopy(model.state_dict())))
    best = max(range(len(found)), key=lambda k: (found[k][1] or 0.0, k))
    model.load_state_dict(found[best][2])
    return {"kept": found[best][0], "held_out": {name: value for name, value, _ in found}}
