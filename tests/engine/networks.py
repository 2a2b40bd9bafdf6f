"""Small random networks, made for tests: tails in the manner of Bi-Real, and a backbone with every kind of layer."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import CONVOLUTIONS
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.engine.graph import Fixed, Graph, LatentCode, Node
from bitreplay.engine.operations import Run
from bitreplay.engine.program import Program
from bitreplay.engine.reference import Memory

REPLAY_LAYER = "add_0"
RATE = Multiplier.of(Fraction(1, 10))


def batchnorm(name: str, inputs: tuple[str, ...], channels: int, fan_in: int, rng: np.random.Generator) -> Node:
    gamma, beta = rng.normal(1, 0.2, channels), rng.normal(0, 0.3, channels)
    arrays: dict[str, Fixed | NDArray] = {
        "gamma": Fixed(np.rint(gamma * 2**28).astype(np.int32), 28),
        "beta": Fixed(np.rint(beta * 2**28).astype(np.int32), 28),
        "mean": Fixed.of(rng.normal(0, 0.3, channels)),
        "inverse_sigma": Fixed.of(np.exp(rng.normal(0, 0.2, channels)) / (0.05 * np.sqrt(fan_in))),
    }
    return Node(name, "batchnorm", inputs, {}, arrays)


def binary(
    name: str, source: str, outputs: int, channels: int, rng: np.random.Generator, **attributes: int | str
) -> Node:
    kernel = int(attributes.pop("kernel", 3))
    geometry: dict[str, int | str] = {"pad": kernel // 2}
    weights = pack(rng.random((outputs, kernel, kernel, channels)) < 0.5)
    return Node(name, "binary_conv", (source,), geometry | attributes,
                {"weights": weights, "scale": Fixed.of(rng.uniform(0.03, 0.07, outputs))})  # fmt: skip


def latent_codes(channels: int, rng: np.random.Generator) -> dict[int, LatentCode]:
    codes = {}
    for bits in (1, 2, 4):
        thresholds = np.sort(rng.normal(0, 0.5, (channels, 2**bits - 1)))
        codes[bits] = LatentCode(bits, Fixed.of(thresholds), Fixed.of(np.sort(rng.normal(0, 1, (channels, 2**bits)))))
    return codes


def tail_graph(shape: tuple[int, int, int], rng: np.random.Generator, blocks: int = 2, padding: str = "zero") -> Graph:
    channels = shape[2]
    nodes = [Node(REPLAY_LAYER, "image", ())]
    for number in range(1, blocks + 1):
        source = f"add_{number - 1}"
        nodes += [
            Node(f"sign_{number}", "sign", (source,)),
            binary(f"conv_{number}", f"sign_{number}", channels, channels, rng, padding=padding),
            batchnorm(f"add_{number}", (f"conv_{number}", source), channels, 9 * channels, rng),
        ]
    nodes += [Node("pool", "average_pool", (f"add_{blocks}",)), Node("head", "dense", ("pool",))]
    ranges = {f"add_{number}": (Fraction(-4), Fraction(4)) for number in range(blocks + 1)}
    ranges["pool"] = (Fraction(-2), Fraction(2))
    return Graph((32, 32, 3), nodes, ranges, {REPLAY_LAYER: shape}, {REPLAY_LAYER: latent_codes(channels, rng)})


def tail(
    shape: tuple[int, int, int], bits: Bits, samples: int, seed: int = 0, classes: int = 5, latent_bits: int = 1,
    blocks: int = 2, padding: str = "zero",
) -> Program:  # fmt: skip
    graph = tail_graph(shape, np.random.default_rng(seed), blocks, padding)
    return compile_tail(graph, REPLAY_LAYER, bits, samples, classes, latent_bits)


def backbone(size: int, channels: int, bits: Bits, samples: int, latent_bits: int = 1, seed: int = 0) -> Program:
    """Image, stem, pool, binary convolutions (stride 1 and 2, both paddings), a 1x1 shortcut, the level's code."""
    rng = np.random.default_rng(seed)
    table = np.repeat(np.arange(-255, 256, 2, dtype=np.int16)[:, None], 3, axis=1)
    wide = 2 * channels

    def integer(name: str, source: str, outputs: int, inputs: int, kernel: int, **attributes: int) -> Node:
        weights = Fixed.of(rng.normal(0, 0.3, (outputs, kernel, kernel, inputs)))
        return Node(name, "integer_conv", (source,), dict(attributes), {"weights": weights})

    nodes = [
        Node("image", "image", (), {}, {"table": table}),
        integer("stem_conv", "image", channels, 3, 3, stride=1, pad=1),
        batchnorm("stem", ("stem_conv",), channels, 27, rng),
        Node("sign_1", "sign", ("stem",)),
        binary("conv_1", "sign_1", channels, channels, rng, padding="one"),
        batchnorm("block_1", ("conv_1", "stem"), channels, 9 * channels, rng),
        Node("pooled", "average_pool", ("block_1",), {"window": 2}),
        integer("short_conv", "pooled", wide, channels, 1),
        batchnorm("short", ("short_conv",), wide, channels, rng),
        Node("sign_2", "sign", ("block_1",)),
        binary("conv_2", "sign_2", wide, channels, rng, stride=2),
        batchnorm("block_2", ("conv_2", "short"), wide, 9 * channels, rng),
    ]
    names = ("stem", "block_1", "pooled", "short", "block_2")
    ranges = {name: (Fraction(-3), Fraction(3)) for name in names}
    shapes = {"block_2": (size // 2, size // 2, wide)}
    graph = Graph((size, size, 3), nodes, ranges, shapes, {"block_2": latent_codes(wide, rng)})
    return compile_backbone(graph, "block_2", bits, samples, latent_bits)


def feed(machines: list[Memory], samples: int, seed: int) -> None:
    """The same random latents and labels to each machine."""
    rng = np.random.default_rng(seed)
    program = machines[0].program
    classes = program.tensor("logits").shape[0]
    channels = program.tensor(REPLAY_LAYER).shape[2]
    planes = program.tensor("latents").shape[2] // -(-channels // 64)
    shape = program.tensor("latents").shape[:2]
    codes = np.concatenate([pack(rng.random((samples, *shape, channels)) < 0.5) for _ in range(planes)], axis=-1)
    labels = rng.integers(0, classes, samples).astype(np.int32)
    for machine in machines:
        machine.write("latents", codes)
        machine.write("labels", labels)


def run_of(samples: int, step: int, seed: int = 7) -> Run:
    return Run(samples, seed, step, RATE.mantissa, RATE.shift)


def forget_sums(*machines: Memory) -> None:
    """Set sums that only the BatchNorm behind a convolution reads to 0: the core need not store them."""
    for machine in machines:
        records = machine.program.records
        uses = Counter(number for record in records for number in record.tensors)
        for first, second in pairwise(records):
            passed = set(first.tensors) & set(second.tensors)
            if first.operation in CONVOLUTIONS and second.operation == "affine":
                for tensor in (machine.program.tensors[number] for number in passed if uses[number] == 2):
                    machine.view(tensor, machine.program.max_samples)[...] = 0
