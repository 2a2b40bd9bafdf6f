"""The frozen part of the network: uint8 images -> latents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone
from bitreplay.engine.footprint import Footprint
from bitreplay.engine.graph import Graph
from bitreplay.engine.machine_pool import Arenas
from bitreplay.engine.memory_limit import check_room
from bitreplay.engine.native import machine


class Backbone:
    """`latents` of any number of images, `max_samples` at a time in one arena; threads may share it."""

    def __init__(self, graph: Graph, replay_layer: str, bits: Bits, latent_bits: int = 1, max_samples: int = 8) -> None:
        self.program = compile_backbone(graph, replay_layer, bits, max_samples, latent_bits)
        check_room(self.program)
        self.input_shape = graph.input_shape
        self._arenas = Arenas(machine(self.program))

    @property
    def footprint(self) -> Footprint:
        """Its memory."""
        return self._arenas.footprint

    @property
    def latent_shape(self) -> tuple[int, ...]:
        """Rows, columns and words of one latent."""
        return self.program.tensor("latents").shape

    def latents(self, images: NDArray[np.uint8]) -> NDArray[np.uint64]:
        return self._arenas.forward(images, "latents", np.empty((len(images), *self.latent_shape), np.uint64))
