"""Logits -> probabilities, in integers.

Logits are integers with 16 bits behind the point (those of a float tail are rounded to that). Probabilities come from
the engine's integer exponential, 30 bits behind the point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.softmax import HIGHEST_LOGIT, LOGIT_POINT, LOWEST_LOGIT, softmax
from bitreplay.engine.arithmetic.softmax import POINT as POINT


def probabilities(logits: NDArray) -> NDArray[np.int64]:
    """Softmax over the last axis, 30 bits behind the point; 0 for classes that take no part."""
    return softmax(as_integers(logits))


def as_integers(logits: NDArray) -> NDArray[np.int64]:
    if logits.dtype.kind == "f":
        scaled = np.rint(logits.astype(np.float64) * 2.0**LOGIT_POINT)
        return np.clip(scaled, LOWEST_LOGIT, HIGHEST_LOGIT).astype(np.int64)
    return logits.astype(np.int64)
