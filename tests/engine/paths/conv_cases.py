"""Random operands for the convolutions, in sizes around the word and the vector."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from bitreplay.engine.arithmetic.packing import pack
from tests.engine.paths.one_record import Case, Operand
from tests.engine.paths.operands import STORED, exponents, numbers, zeros

Geometry = tuple[int, int, int, int, int]  # height, width, kernel, stride, pad
WIDTHS: list[tuple[type, type, int]] = [
    (np.int8, np.int8, 0), (np.int16, np.int8, 0), (np.int16, np.int16, 8), (np.int32, np.int32, 20),
    (np.int8, np.int16, 0),
]  # fmt: skip


def output_shape(geometry: Geometry) -> tuple[int, int]:
    height, width, kernel, stride, pad = geometry
    return (height + 2 * pad - kernel) // stride + 1, (width + 2 * pad - kernel) // stride + 1


def signs(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return pack(rng.random(shape) < 0.5)


def binary_conv_case(
    rng: np.random.Generator, geometry: Geometry, channels: int, outputs: int, padding: int, samples: int = 2
) -> Case:
    height, width, kernel, stride, pad = geometry
    operands = {
        "x": Operand(signs(rng, (samples, height, width, channels))),
        "w": Operand(signs(rng, (outputs, kernel, kernel, channels)), False, "constant"),
        "sums": zeros(np.int16, (samples, *output_shape(geometry), outputs)),
    }
    attributes = {"channels": channels, "stride": stride, "pad": pad, "padding": padding}
    return Case("binary_conv", operands, attributes, samples, f"{geometry} {channels} {outputs} {padding}")


def binary_conv() -> Iterator[Case]:
    rng = np.random.default_rng(2)
    geometries = [(1, 1, 1, 1, 0), (4, 4, 3, 1, 1), (5, 3, 3, 2, 1), (2, 2, 3, 1, 1), (5, 5, 5, 2, 2), (3, 3, 1, 2, 0)]
    sizes = [(1, 1), (63, 7), (64, 8), (65, 9), (130, 33), (200, 41)]
    for number, (geometry, (channels, outputs), padding) in enumerate(product(geometries, sizes, (0, 1))):
        yield binary_conv_case(rng, geometry, channels, outputs, padding, samples=1 + number % 3)
    # Around the eight places and 32 outputs of AVX2, and the 31 bytes of channels that a byte counts.
    sizes = [(9, 31), (64, 32), (128, 64), (248, 65), (249, 63), (257, 96), (512, 33)]
    maps = [((4, 4, 3, 1, 1), 8), ((3, 9, 3, 1, 1), 1), ((4, 4, 3, 1, 1), 1), ((3, 2, 3, 1, 1), 5)]
    for number, ((channels, outputs), (geometry, samples)) in enumerate(product(sizes, maps)):
        yield binary_conv_case(rng, geometry, channels, outputs, number % 2, samples)
    # Neighbours of one sample: four, two and one of them along rows, and down the columns at the edges.
    wide = [(7, 9, 3, 1, 1), (9, 8, 3, 2, 1), (6, 11, 3, 1, 0), (8, 7, 2, 1, 1), (3, 5, 5, 1, 2)]
    for number, (geometry, (channels, outputs)) in enumerate(product(wide, [(64, 64), (128, 40), (70, 19)])):
        yield binary_conv_case(rng, geometry, channels, outputs, number % 2, samples=1 + 4 * (number % 3 // 2))
    # Longer windows than eight places have room for, and than two have.
    for geometry, channels in (((3, 4, 5, 1, 2), 405), ((2, 2, 69, 1, 34), 2)):
        for padding in (0, 1):
            yield binary_conv_case(rng, geometry, channels, 35, padding, samples=3)
    # All bits differ, and none does.
    for sign in (False, True):
        operands = {
            "x": Operand(pack(np.ones((8, 3, 3, 512), bool))),
            "w": Operand(pack(np.full((33, 3, 3, 512), sign)), False, "constant"),
            "sums": zeros(np.int16, (8, 3, 3, 33)),
        }
        attributes = {"channels": 512, "stride": 1, "pad": 1, "padding": 0}
        yield Case("binary_conv", operands, attributes, 8, f"all bits {'agree' if sign else 'differ'}")


def input_grad_case(
    rng: np.random.Generator, geometry: Geometry, channels: int, outputs: int, dtype: type, wide: type, samples: int = 3
) -> Case:
    height, width, kernel, stride, pad = geometry
    operands = {
        "g": Operand(numbers(rng, dtype, (samples, *output_shape(geometry), outputs))),
        "w": Operand(signs(rng, (outputs, kernel, kernel, channels)), False, "constant"),
        "gx": zeros(wide, (samples, height, width, channels)),
    }
    attributes = {"channels": channels, "stride": stride, "pad": pad}
    label = f"{geometry} {dtype.__name__} {wide.__name__} {channels} {outputs}"
    return Case("binary_conv_input_grad", operands, attributes, samples, label)


def binary_conv_input_grad() -> Iterator[Case]:
    rng = np.random.default_rng(3)
    geometries = [(1, 1, 1, 1, 0), (4, 4, 3, 1, 1), (5, 3, 3, 2, 1), (2, 2, 3, 1, 1)]
    sizes = [(1, 1), (15, 19), (16, 20), (17, 21), (63, 40), (64, 41), (65, 5), (130, 33)]
    for geometry, (channels, outputs), dtype in product(geometries, sizes, STORED):
        for wide in (np.int32, np.int64):
            yield input_grad_case(rng, geometry, channels, outputs, dtype, wide)
    # Around the tables of six and the blocks of 128 channels of AVX-512, and more outputs than its tables hold.
    sizes = [(31, 13), (33, 11), (95, 24), (97, 25), (127, 12), (128, 23), (129, 36), (193, 6), (257, 7), (70, 529)]
    for (channels, outputs), dtype in product(sizes, (np.int8, np.int16)):
        yield input_grad_case(rng, (3, 3, 3, 1, 1), channels, outputs, dtype, np.int32, samples=2)
    # All gradients at the lowest value and all weights alike: the largest sums, over more outputs than one table holds.
    for dtype in (np.int8, np.int16):
        operands = {
            "g": Operand(np.full((1, 3, 3, 1100), np.iinfo(dtype).min, dtype)),
            "w": Operand(pack(np.ones((1100, 3, 3, 70), bool)), False, "constant"),
            "gx": zeros(np.int32, (1, 3, 3, 70)),
        }
        yield Case("binary_conv_input_grad", operands, {"channels": 70, "stride": 1, "pad": 1}, 1, "largest sums")
    # Four gradients of 16 bits whose |g| add up to just below 2^16 and to 2^16, where AVX2 takes other digits.
    for limit, outputs in product((16383, 16384, -16384, 900), (31, 65)):
        gradients = rng.integers(-abs(limit), abs(limit) + 1, (2, 3, 5, outputs)).astype(np.int16)
        gradients[:, 1] = limit
        operands = {
            "g": Operand(gradients),
            "w": Operand(signs(rng, (outputs, 3, 3, 40)), False, "constant"),
            "gx": zeros(np.int32, (2, 3, 5, 40)),
        }
        yield Case("binary_conv_input_grad", operands, {"channels": 40, "stride": 1, "pad": 1}, 2, f"|g| up to {limit}")


def integer_conv_case(
    rng: np.random.Generator, geometry: Geometry, channels: int, outputs: int, widths: tuple[type, type, int],
    x_zero: int = 5, samples: int = 2,
) -> Case:  # fmt: skip
    height, width, kernel, stride, pad = geometry
    x_type, w_type, down = widths
    limit = min(np.iinfo(x_type).max, 1 << 23)
    operands = {
        "x": Operand(numbers(rng, x_type, (samples, height, width, channels), limit)),
        "w": Operand(numbers(rng, w_type, (outputs, kernel, kernel, channels)), False, "constant"),
        "sums": zeros(np.int32, (samples, *output_shape(geometry), outputs)),
    }
    attributes = {"x_zero": x_zero, "stride": stride, "pad": pad, "down": down}
    label = f"{geometry} {x_type.__name__} {w_type.__name__} {channels} {outputs}"
    return Case("integer_conv", operands, attributes, samples, label)


def integer_input_grad_case(
    rng: np.random.Generator, geometry: Geometry, channels: int, outputs: int, types: tuple[type, type, type],
    limit: int | None = None, samples: int = 3,
) -> Case:  # fmt: skip
    """Gradients of at most `limit`; weights of any size. Types of gradients, weights and results."""
    height, width, kernel, stride, pad = geometry
    g_type, w_type, gx_type = types
    operands = {
        "g": Operand(numbers(rng, g_type, (samples, *output_shape(geometry), outputs), limit)),
        "e": exponents(rng, samples),
        "w": Operand(numbers(rng, w_type, (outputs, kernel, kernel, channels)), False, "constant"),
        "gx": zeros(gx_type, (samples, height, width, channels)),
        "ex": zeros(np.int32, (samples,)),
    }
    bits = 8 * np.dtype(gx_type).itemsize
    attributes = {"stride": stride, "pad": pad, "room": 0, "down": 3, "bits": bits}
    label = f"{geometry} {g_type.__name__} {w_type.__name__} {gx_type.__name__} {channels} {outputs} {limit}"
    return Case("integer_conv_input_grad", operands, attributes, samples, label)


def integer_conv_input_grad() -> Iterator[Case]:
    rng = np.random.default_rng(15)
    geometries = [(1, 1, 1, 1, 0), (3, 3, 1, 1, 0), (5, 3, 3, 2, 1), (4, 4, 1, 2, 0), (3, 5, 3, 1, 1)]
    sizes = [(1, 1), (4, 7), (15, 8), (16, 9), (33, 64), (65, 17)]
    widths = [(np.int8, np.int8), (np.int16, np.int8), (np.int16, np.int16), (np.int32, np.int8), (np.int16, np.int32)]
    for at, (geometry, (channels, outputs), (g_type, w_type)) in enumerate(product(geometries, sizes, widths)):
        types = (g_type, w_type, STORED[at % 3])
        yield integer_input_grad_case(
            rng, geometry, channels, outputs, types, (None, 1000)[at % 2 and g_type != np.int8]
        )
    # Sums at the limit of 32 bits: the longest row, and all gradients and weights alike.
    for outputs, low in product((511, 512, 513, 2304, 2305), (-32767, -32768)):
        case = integer_input_grad_case(rng, (1, 2, 1, 1, 0), 40, outputs, (np.int16, np.int8, np.int16))
        case.operands["g"].content[...] = low
        case.operands["w"].content[...] = -128
        yield case


def integer_conv() -> Iterator[Case]:
    rng = np.random.default_rng(9)
    geometries = [(1, 1, 1, 1, 0), (5, 4, 3, 1, 1), (5, 3, 3, 2, 1), (4, 4, 1, 2, 0)]
    sizes = [(1, 1), (3, 16), (3, 17), (16, 15), (33, 64), (64, 9)]
    for geometry, (channels, outputs), widths in product(geometries, sizes, WIDTHS):
        yield integer_conv_case(rng, geometry, channels, outputs, widths)
    # Four pixels and more in a row, whose taps are all inside, up to the last number of the map.
    maps = [(7, 10, 3, 1, 0), (9, 11, 3, 2, 0), (6, 9, 3, 1, 1), (3, 8, 1, 1, 0), (5, 8, 2, 1, 0)]
    for geometry, (channels, outputs), samples in product(maps, [(3, 16), (1, 33), (4, 16)], (1, 2)):
        yield integer_conv_case(rng, geometry, channels, outputs, WIDTHS[1 + channels % 2], samples=samples)
        yield integer_conv_case(rng, geometry, channels, outputs, WIDTHS[1], x_zero=0, samples=samples)
