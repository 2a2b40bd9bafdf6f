"""Random operands for latent_signs and latent_update: sizes around the word, every width, steps small and large."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.packing import pack, words_for
from bitreplay.engine.arithmetic.quant import NO_GRADIENT, SIGNIFICANT
from bitreplay.engine.layers.latent_weights import ALIGNED_BITS, store_latent
from tests.engine.paths.one_record import Case, Operand

WIDTHS, GRADIENTS = (4, 8, 16, 32), {8: np.int8, 16: np.int16, 32: np.int32}
CHANNELS, OUTPUTS, SAMPLES = (1, 63, 64, 65, 128), (1, 7, 64), (1, 2, 5)
GEOMETRIES = [(1, 1, 1, 1, 0), (4, 4, 3, 1, 1), (5, 3, 3, 2, 1), (5, 3, 3, 1, 1), (4, 4, 1, 2, 0), (1, 1, 3, 1, 1)]


def latent(rng: np.random.Generator, bits: int, shape: tuple[int, ...]) -> NDArray:
    """Random latent weights as they are stored; both ends and both sides of 0 are among them."""
    end = 1 << (bits - 1)
    values = rng.integers(-end, end, shape)
    for at, value in zip(rng.permutation(values.size)[:4], (-end, end - 1, -1, 0), strict=False):
        values.reshape(-1)[at] = value
    return store_latent(values, bits)


def latent_signs() -> Iterator[Case]:
    rng = np.random.default_rng(11)
    for bits, channels in product(WIDTHS, (1, 2, 15, 31, 63, 64, 65, 127, 128, 200)):
        for outputs, kernel in ((1, 1), (3, 3)):
            shape = (outputs, kernel, kernel)
            operands = {
                "latent": Operand(latent(rng, bits, (*shape, channels)), False),
                "w": Operand(np.zeros((*shape, words_for(channels)), np.uint64), False),
            }
            yield Case("latent_signs", operands, {"channels": channels, "bits": bits}, 1, f"{bits} {channels}")


def update_case(
    rng: np.random.Generator, geometry: tuple[int, ...], padding: int, channels: int, outputs: int, bits: int,
    q: int, samples: int,
) -> Case:  # fmt: skip
    """A step that moves some weights by a few units and stays far from others."""
    height, width, kernel, stride, pad = geometry
    out = [(size + 2 * pad - kernel) // stride + 1 for size in (height, width)]
    limit = (1 << (SIGNIFICANT[q] - 1)) - 1
    g = rng.integers(-limit, limit, (samples, *out, outputs), endpoint=True)
    g.reshape(-1)[-1] = limit
    exponents = rng.integers(-32, -28, samples).astype(np.int32)
    if samples > 2:
        exponents[1] = NO_GRADIENT
        exponents[2] = -47
    operands = {
        "latent": Operand(latent(rng, bits, (outputs, kernel, kernel, channels)), False),
        "g": Operand(g.astype(GRADIENTS[q])),
        "e": Operand(exponents),
        "x": Operand(pack(rng.random((samples, height, width, channels)) < 0.5)),
    }
    # A sum of n gradients is some 2^(q - 1) sqrt(n) units of its exponent: about as many units of a weight, 2^(b - 3).
    step = int(rng.integers(bits - 6, bits)) + 29 - SIGNIFICANT[q]
    attributes = {
        "channels": channels, "stride": stride, "pad": pad, "padding": padding, "bits": bits,
        "up": ALIGNED_BITS[q] - SIGNIFICANT[q], "mantissa": int(rng.integers(1 << 30, 1 << 31)), "shift": 30 - step,
        "number": int(rng.integers(0, 1000)),
    }  # fmt: skip
    label = f"{geometry} {padding} {channels} {outputs} {bits} {q} {samples}"
    return Case("latent_update", operands, attributes, samples, label)


def latent_update() -> Iterator[Case]:
    rng = np.random.default_rng(12)
    sizes = list(product(CHANNELS, OUTPUTS))
    widths = list(product(WIDTHS, GRADIENTS, SAMPLES))
    # Every geometry with every size; the 36 combinations of widths are dealt out among them.
    for at, (geometry, padding, (channels, outputs)) in enumerate(product(GEOMETRIES, (0, 1), sizes)):
        bits, q, samples = widths[(at * 7 + at // len(widths)) % len(widths)]
        yield update_case(rng, geometry, padding, channels, outputs, bits, q, samples)
    # More samples than one index byte holds, and more than are held at a time.
    for samples, q in product((6, 7, 8, 9, 17, 61), GRADIENTS):
        yield update_case(rng, (4, 4, 3, 1, 1), samples % 2, 70, 9, 8, q, samples)
    # A map whose rows do not fit at a time.
    for stride, q in product((1, 2), GRADIENTS):
        yield update_case(rng, (15, 14, 3, stride, 1), stride % 2, 65, 3, 8, q, 4)
    # The step's shift around 0, 32 and 62, and far beyond.
    for at, shift in enumerate((-60, *range(-6, 8), *range(26, 38), *range(56, 70), 90, 200)):
        case = update_case(rng, (4, 4, 3, 1, 1), 0, 65, 2, WIDTHS[at % 4], 16, 3)
        case.attributes["shift"] = shift - 30
        yield case
    # The largest sums: every product has the same sign. One map is longer than 16-bit sums of digits can be.
    for geometry, q, sign in product(((3, 3, 3, 1, 1), (1, 1100, 3, 1, 1), (1, 2200, 1, 2, 0)), GRADIENTS, (-1, 1)):
        case = update_case(rng, geometry, 1, 65, 2, 32, q, 16)
        case.operands["g"].content[...] = sign * ((1 << (SIGNIFICANT[q] - 1)) - 1)
        case.operands["e"].content[...] = -30
        case.operands["x"].content[...] = pack(np.ones((16, *geometry[:2], 65), bool))
        yield case
    # Steps so small that few weights can change; outputs of few gradients, and of none.
    for at, (geometry, samples) in enumerate(product(GEOMETRIES + [(7, 7, 3, 1, 1), (9, 40, 3, 1, 1)], (1, 2, 9))):
        for smaller in (0, 3, 5, 8, 14, 30, 40):
            channels, outputs = (1, 65, 130)[at % 3], (1, 9, 17)[(at + smaller) % 3]
            width, other = WIDTHS[(at + smaller) % 4], 16 if smaller % 2 else 8
            case = update_case(rng, geometry, at % 2, channels, outputs, width, other, samples)
            case.attributes["shift"] += smaller
            g = case.operands["g"].content
            g[rng.random(g.shape) < (0.3, 0.8, 0.95)[at % 3]] = 0
            g[..., outputs // 2] = 0
            yield case
    # So many pixels that sums of 16-bit gradients leave 32 bits.
    for q in GRADIENTS:
        yield update_case(rng, (256, 257, 1, 1, 0), 0, 2, 2, 16, q, 1)
