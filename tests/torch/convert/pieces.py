"""What tests of conversion share: pieces of photographs, and a network after its forward pass, every tensor kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_sample_images

from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import Builder
from bitreplay.engine.graph import Graph
from bitreplay.engine.layers import LAYERS
from bitreplay.engine.operations import Run
from bitreplay.engine.reference import ReferenceMachine


def patches(count: int, size: int = 32) -> np.ndarray:
    """Pieces of two photographs, every second pixel."""
    rng = np.random.default_rng(0)
    pieces = []
    for number in range(count):
        picture = load_sample_images().images[number % 2]
        y, x = (int(rng.integers(0, side - 2 * size)) for side in picture.shape[:2])
        pieces.append(picture[y : y + 2 * size : 2, x : x + 2 * size : 2])
    return np.stack(pieces)


def after_forward(graph: Graph, bits: Bits, images: NDArray[np.uint8]) -> tuple[Builder, ReferenceMachine]:
    builder = Builder(graph, bits, len(images), "nothing", keep=True)
    for node in graph.nodes:
        inputs = [builder.values[name] for name in node.inputs]
        builder.values[node.name] = LAYERS[node.kind](node).forward(builder, inputs)
    machine = ReferenceMachine(builder.finish())
    machine.write("images", images)
    machine.run("forward", Run(len(images)))
    return builder, machine
