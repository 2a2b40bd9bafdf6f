"""The frozen network for learning by sums: uint8 images -> features, int8 in [-127, 127]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.feature_program import compile_features, part_lengths
from bitreplay.engine.footprint import Footprint
from bitreplay.engine.graph import Graph
from bitreplay.engine.machine_pool import Arenas
from bitreplay.engine.memory_limit import check_room
from bitreplay.engine.native import machine
from bitreplay.engine.projection import Projection
from bitreplay.engine.shrinkage import EXACT


class FeatureExtractor:
    """`extract` any number of images, `max_samples` at a time in one arena; threads may share it.

    `feature_layers` is text as engine/feature_program.py explains it. `lengths` are the numbers of features of each
    layer, or of the projection, `shrinkage` belongs to their discriminant.
    """

    def __init__(
        self, graph: Graph, feature_layers: str, bits: Bits, max_samples: int = 8, projection: Projection | None = None
    ) -> None:
        self.program = compile_features(graph, feature_layers, bits, max_samples, projection)
        self.projection = projection
        self.shrinkage = EXACT if projection is None else projection.shrinkage
        check_room(self.program)
        self.input_shape, self.lengths = graph.input_shape, part_lengths(self.program)
        self._arenas = Arenas(machine(self.program))

    @property
    def footprint(self) -> Footprint:
        """Bytes that it holds."""
        return self._arenas.footprint

    def __len__(self) -> int:
        """The number of features."""
        return sum(self.lengths)

    def extract(self, images: NDArray[np.uint8]) -> NDArray[np.int8]:
        return self._arenas.forward(images, "features", np.empty((len(images), len(self)), np.int8))
