"""Pictures' tables, depthwise convolutions and pools on both sides of every limit of their short ways."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tests.engine.paths.one_record import Case, Operand
from tests.engine.paths.operands import numbers, zeros

# height, width, window, stride, pad, height and width of the result: inside, over the edge, between two pixels
GEOMETRY = [(5, 6, 2, 1, 0, 4, 5), (6, 5, 3, 2, 0, 3, 2), (4, 4, 3, 2, 1, 2, 2), (3, 3, 2, 1, 0, 3, 3)]


def image_tables() -> Iterator[Case]:
    rng = np.random.default_rng(31)
    for colours, width in product((1, 2, 3, 4), (1, 21, 22, 64, 65, 200)):
        image = rng.integers(0, 256, (2, 1, width, colours)).astype(np.uint8)
        table = numbers(rng, np.int16, (256, colours))
        operands = {"image": Operand(image), "table": Operand(table, False, "constant")}
        yield Case("image_table", operands | {"y": zeros(np.int16, image.shape)}, {}, 2, f"{colours} {width}")


def depthwise_case(rng: np.random.Generator, geometry: tuple, channels: int, zero: int, down: int = 0) -> Case:
    height, width, kernel, stride, pad, out_h, out_w = geometry
    x, w = numbers(rng, np.int8, (2, height, width, channels)), numbers(rng, np.int8, (channels, kernel, kernel))
    operands = {"x": Operand(x), "w": Operand(w, False, "constant")}
    operands |= {"sums": zeros(np.int32, (2, out_h, out_w, channels))}
    attributes = {"x_zero": zero, "stride": stride, "pad": pad, "down": down}
    return Case("depthwise_conv", operands, attributes, 2, f"{geometry} {channels} {zero} {down}")


def depthwise_blocks() -> Iterator[Case]:
    rng = np.random.default_rng(32)
    for geometry, channels, (zero, down) in product(
        GEOMETRY, (15, 16, 48), ((-128, 0), (1 << 14, 0), (-(1 << 14) - 1, 0), (3, 2))
    ):
        yield depthwise_case(rng, geometry, channels, zero, down)


def depthwise_strips() -> Iterator[Case]:
    """Windows of 3 and 5, strides of 1 and 2, rows of results around a group, and as long as a strip and longer."""
    rng = np.random.default_rng(35)
    for kernel, stride, width in product((3, 5), (1, 2, 3), (1, 2, 3, 4, 5, 7, 8, 9)):
        pad = int(rng.integers(0, kernel))
        height, out_h = int(rng.integers(1, 8)), int(rng.integers(1, 5))
        geometry = (height, width, kernel, stride, pad, out_h, -(-width // stride))
        yield depthwise_case(rng, geometry, int(rng.choice([16, 32, 64, 80, 144])), int(rng.choice([-128, -3, 127])))
    for kernel, stride, width in product((3, 5), (1, 2), (180, 184, 188, 190, 370, 376)):
        yield depthwise_case(rng, (2, width, kernel, stride, 1, 1, -(-width // stride)), 16, 5)
    for zero in (-129, 128):
        yield depthwise_case(rng, (4, 4, 3, 1, 1, 4, 4), 16, zero)


def max_pool_runs() -> Iterator[Case]:
    """Runs longer than the 2,048 numbers that are compared at a time, too."""
    rng = np.random.default_rng(33)
    for geometry, channels in product(GEOMETRY, (1, 31, 63, 64, 65, 513)):
        height, width, window, stride, pad, out_h, out_w = geometry
        x = numbers(rng, np.int8, (2, height, width, channels))
        attributes = {"window": window, "stride": stride, "pad": pad, "x_zero": -128, "mantissa": 1673595769,
                      "shift": 31, "y_zero": -120, "low": -128, "high": 60}  # fmt: skip
        operands = {"x": Operand(x), "y": zeros(np.int8, (2, out_h, out_w, channels))}
        yield Case("max_pool", operands, attributes, 2, f"{geometry} {channels}")


def filter_pool_words() -> Iterator[Case]:
    """Kernels whose sums reach 2^15 or stay below, ties on both sides of 0, shifts at the limits of the lanes."""
    rng = np.random.default_rng(34)
    blur = np.outer([1, 2, 1], [1, 2, 1])
    kernels = [blur, -blur, 7 * blur, 8 * blur, 9 * blur, (1 << 30) * blur, np.full((3, 3), 1 << 16)]
    rescales = [(1464121263, 34, 0), (1, 0, 0), (1 << 15, 19, 0), (1 << 30, 33, 1 << 28), (-(1 << 31) + 1, 62, 0),
                (-(1 << 31), 40, 0), (1, 15, 0), (1, 16, (1 << 28) + 1), (12345, 16, 5)]  # fmt: skip
    for number, (kernel, (mantissa, shift, y_zero)) in enumerate(product(kernels, rescales)):
        height, width, _, stride, pad, out_h, out_w = GEOMETRY[1 + number % 2]
        channels, zero = (64, 65, 128)[number % 3], (-128, 3, 0, 1 << 15)[number % 4]
        x = numbers(rng, np.int8, (1, height, width, channels))
        operands = {"x": Operand(x), "kernel": Operand(kernel.astype(np.int32), False, "constant")}
        operands |= {"y": zeros(np.int8, (1, out_h, out_w, channels))}
        attributes = {"stride": stride, "pad": pad, "x_zero": zero, "mantissa": mantissa, "shift": shift,
                      "y_zero": y_zero, "low": -128, "high": 127}  # fmt: skip
        yield Case("filter_pool", operands, attributes, 1, f"{kernel[0, 0]} {mantissa} {shift} {zero} {channels}")


WINDOWS = {
    "image_tables": image_tables, "depthwise_blocks": depthwise_blocks, "depthwise_strips": depthwise_strips,
    "max_pool_runs": max_pool_runs, "filter_pool_words": filter_pool_words,
}  # fmt: skip
