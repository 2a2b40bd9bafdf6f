"""Logits -> probabilities, in whole numbers.

Logits are integers with 16 bits behind the point (those of a float tail are rounded to that). Probabilities come from
the engine's integer exponential, 30 bits behind the point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.layers.cross_entropy import POINT, exp_minus
from bitreplay.engine.layers.dense import HIGHEST_LOGIT, LOGIT_POINT, LOWEST_LOGIT


def probabilities(logits: NDArray) -> NDArray[np.int64]:
    """Softmax over the last axis, 30 bits behind the point; 0 for classes that take no part."""
    whole = as_integers(logits)
    weight = np.where(whole > LOWEST_LOGIT, exp_minus(whole.max(axis=1, keepdims=True) - whole), 0)
    total = weight.sum(axis=1, keepdims=True)
    return ((weight << POINT) + (total >> 1)) // total


def as_integers(logits: NDArray) -> NDArray[np.int64]:
    if logits.dtype.kind == "f":
        scaled = np.rint(logits.astype(np.float64) * 2.0**LOGIT_POINT)
        return np.clip(scaled, LOWEST_LOGIT, HIGHEST_LOGIT).astype(np.int64)
    return logits.astype(np.int64)
