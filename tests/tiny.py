"""A whole model of a few thousand weights, and pictures of plain colours that it can tell apart."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay import modelfile
from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.graph import Fixed, Graph, LatentCode, Node
from bitreplay.learner import Learner
from bitreplay.strategies.gradient import Gradient

SIDE, CHANNELS = 8, 16
COLOURS = {"red": (200, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 200), "white": (240, 240, 240)}


def _norm(name: str, rng: np.random.Generator, inverse_sigma: float, *inputs: str) -> Node:
    arrays: dict[str, Fixed | NDArray] = {
        "gamma": Fixed(np.full(CHANNELS, 1 << 28, np.int32), 28),
        "beta": Fixed((rng.normal(0, 0.3, CHANNELS) * 2**28).astype(np.int32), 28),
        "mean": Fixed.of(np.zeros(CHANNELS)),
        "inverse_sigma": Fixed.of(np.full(CHANNELS, inverse_sigma)),
    }
    return Node(name, "batchnorm", inputs, {}, arrays)


def graph(seed: int = 0) -> Graph:
    """image -> convolution -> norm (the level) -> sign -> binary convolution -> norm + shortcut -> pool -> head."""
    rng = np.random.default_rng(seed)
    table = (2 * np.arange(256) - 255).astype(np.int16)[:, None].repeat(3, axis=1)
    latents = {}
    for bits in (1, 2, 4):
        cuts, values = np.linspace(-1, 1, 2**bits + 1)[1:-1], np.linspace(-1, 1, 2**bits)
        latents[bits] = LatentCode(
            bits, Fixed.of(np.tile(cuts, (CHANNELS, 1))), Fixed.of(np.tile(values, (CHANNELS, 1)))
        )
    stem = Fixed.of(rng.normal(0, 0.3, (CHANNELS, 3, 3, 3)), bits=16)
    words = pack(rng.integers(0, 2, (CHANNELS, 3, 3, CHANNELS)))
    head: dict[str, Fixed | NDArray] = {
        "weights": Fixed.of(rng.normal(0, 0.1, (2, CHANNELS)), bits=16),
        "bias": Fixed.of(np.zeros(2)),
    }
    nodes = [
        Node("image", "image", (), {"scale_denominator": 255}, {"table": table}),
        Node("conv", "integer_conv", ("image",), {"stride": 4, "pad": 1}, {"weights": stem}),
        _norm("add_0", rng, 0.7, "conv"),
        Node("sign", "sign", ("add_0",)),
        Node("binary", "binary_conv", ("sign",), {"stride": 1, "pad": 1, "padding": "zero"},
             {"weights": words, "scale": Fixed.of(np.full(CHANNELS, 0.05))}),
        _norm("add_1", rng, 1.0, "binary", "add_0"),
        Node("pool", "average_pool", ("add_1",), {"window": 0}),
        Node("head", "dense", ("pool",), {}, head),
    ]  # fmt: skip
    ends = (Fraction(-4), Fraction(4))
    ranges = {"add_0": ends, "add_1": ends, "pool": ends}
    return Graph((SIDE, SIDE, 3), nodes, ranges, {"add_0": (2, 2, CHANNELS)}, {"add_0": latents}, ["yes", "no"])


def model(folder: Path, seed: int = 0) -> Path:
    """The tiny model as a file."""
    path = folder / f"tiny{seed}.safetensors"
    modelfile.save(graph(seed), path, {"name": f"tiny{seed}"})
    return path


def pictures(*colours: str, each: int = 8, seed: int = 0, side: int = SIDE) -> tuple[NDArray[np.uint8], list[str]]:
    """Noisy pictures of plain colours, and their names."""
    rng = np.random.default_rng(seed)
    labels = [colour for colour in colours for _ in range(each)]
    plain = np.array([COLOURS[colour] for colour in labels])[:, None, None, :]
    noisy = plain + rng.integers(-60, 61, (len(labels), side, side, 3))
    return np.clip(noisy, 0, 255).astype(np.uint8), labels


def inside(learner: Learner) -> Gradient:
    """What a learner that learns by gradients has: backbone, tail, head, memory, classes."""
    assert isinstance(learner.strategy, Gradient)
    return learner.strategy
