"""A QuickNet with random weights as the engine's graph, where none with trained ones ships: speed is the same."""

from __future__ import annotations

import numpy as np
import torch

from bitreplay.engine.graph import Graph
from bitreplay.torch.convert import convert
from bitreplay.torch.models.quicknet import QuickNet


def graph(size: int, classes: int) -> Graph:
    torch.manual_seed(0)
    images = np.random.default_rng(0).integers(0, 256, (2, size, size, 3), dtype=np.uint8)
    return convert(QuickNet(classes), images, class_names=[str(number) for number in range(classes)])[0]
