"""Blur-pool (Zhang, 2019; QuickNet's transitions): the filter (1 2 1)^T (1 2 1) / 16. `filter_pool.py` runs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.graph import Node
from bitreplay.engine.kind import ACTIVATION, SLIDING, Arrays, Kind, Yield, behind_window
from bitreplay.engine.layers.filter_pool import FilterPool

ROW = np.array([1, 2, 1], np.int32)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    return {}, Yield(ACTIVATION, (*behind_window(node, inputs[0].shape, 3, 2, 1), inputs[0].channels))


class BlurPool(FilterPool):
    """Reads and yields activations; needs a range. Attributes: stride (2), pad (1); taps outside read 0."""

    kind = Kind(expected, attributes=SLIDING)

    def _filter(self) -> tuple[NDArray[np.int32], int, int, int]:
        return np.outer(ROW, ROW), 16, self.number("stride", 2), self.number("pad", 1)
