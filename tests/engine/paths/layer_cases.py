"""Random operands for the further layers, around the limits of their fast ways."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tests.engine.paths.one_record import Case, Operand
from tests.engine.paths.operands import numbers, zeros

LIMITS: list[tuple[type, type, int, int]] = [
    (np.int8, np.int8, -128, 0), (np.int8, np.int8, 127, 3), (np.int16, np.int8, 0, 0),
    (np.int16, np.int8, 0, 9), (np.int16, np.int16, 0, 0), (np.int16, np.int16, -3, -2),
    (np.int8, np.int16, 1 << 14, -40), (np.int32, np.int8, 7, 4), (np.int8, np.int32, -(1 << 40), 1),
]  # fmt: skip


def integer_conv_limits() -> Iterator[Case]:
    """Rows, outputs, zeros and shifts around the limits within which 32-bit sums of 16-bit pairs are exact."""
    rng = np.random.default_rng(13)
    rows = [(1, 1, 15), (1, 1, 16), (3, 3, 31), (27, 3, 33), (70, 1, 97), (256, 3, 16), (257, 3, 17), (2305, 1, 32)]
    for channels, kernel, outputs in rows:
        for x_type, w_type, zero, down in LIMITS:
            pad = kernel // 2
            x = numbers(rng, x_type, (1, 3, 2, channels))
            w = numbers(rng, w_type, (outputs, kernel, kernel, channels))
            if down == 3:  # the largest sums
                x[...], w[...] = np.iinfo(x_type).min, np.iinfo(w_type).min
            operands = {
                "x": Operand(x), "w": Operand(w, False, "constant"), "sums": zeros(np.int32, (1, 3, 2, outputs)),
            }  # fmt: skip
            attributes = {"x_zero": zero, "stride": 1, "pad": pad, "down": down}
            label = f"{x_type.__name__} {w_type.__name__} {zero} {down} {channels} {kernel} {outputs}"
            yield Case("integer_conv", operands, attributes, 1, label)


def integer_conv_maps() -> Iterator[Case]:
    """Maps of more pixels than are done at a time, read where they lie or not; zeros of bytes and beyond them."""
    rng = np.random.default_rng(15)
    shapes = [(16, 1, 1, 64), (12, 1, 1, 33), (5, 1, 1, 16), (8, 1, 2, 40), (3, 3, 2, 16), (3, 3, 1, 11), (4, 2, 1, 9)]
    kinds: list[tuple[type, type, int, int]] = [
        (np.int8, np.int8, -128, 0), (np.int8, np.int8, 127, 1), (np.int8, np.int8, 128, 0), (np.int16, np.int8, 0, 0),
        (np.int16, np.int16, 0, -1),
    ]  # fmt: skip
    for (channels, kernel, stride, outputs), (x_type, w_type, zero, down) in product(shapes, kinds):
        pad, height, width = int(kernel == 2), 5, 35
        x = numbers(rng, x_type, (2, height, width, channels))
        w = numbers(rng, w_type, (outputs, kernel, kernel, channels))
        out = [(side + 2 * pad - kernel) // stride + 1 + int(stride == 2) for side in (height, width)]  # over the edge
        operands = {
            "x": Operand(x), "w": Operand(w, False, "constant"), "sums": zeros(np.int32, (2, *out, outputs)),
        }  # fmt: skip
        attributes = {"x_zero": zero, "stride": stride, "pad": pad, "down": down}
        label = f"{x_type.__name__} {w_type.__name__} {zero} {down} {channels} {kernel} {stride} {outputs}"
        yield Case("integer_conv", operands, attributes, 2, label)


def integer_conv_byte_sums() -> Iterator[Case]:
    """Windows of 1x1 whose weights come to what fits 16 bits as products of bytes, to one more, or to far less."""
    rng = np.random.default_rng(16)
    shapes = [
        (4, 5, 1),
        (8, 72, 2),
        (64, 40, 3),
        (100, 24, 7),
        (192, 57, 9),
        (480, 72, 11),
        (1216, 48, 4),
        (1220, 6, 4),
    ]
    pairs = np.array([(64, 64), (128 - 1, 1), (-128, 0), (-64, -64), (64, -64), (127, -128), (0, 0), (1, -1)], np.int8)
    beyond = np.array([(64, 65), (127, 2), (-128, -1), (-65, -64), (127, 127), (-128, -128)], np.int8)
    for (channels, outputs, pixels), kind in product(shapes, ("at", "beyond", "small", "some", "large")):
        w = numbers(rng, np.int8, (outputs, 1, 1, channels), {"small": 20, "some": 25}.get(kind, 127))
        of_pairs = w.reshape(outputs, channels // 2, 2)
        if kind in ("at", "beyond"):  # in some of the quads, among small weights
            w[...] = numbers(rng, np.int8, w.shape, 3)
            choice, some = (pairs, of_pairs[:, ::6]) if kind == "at" else (beyond, of_pairs[:, ::14])
            some[...] = choice[rng.integers(0, len(choice), some.shape[:2])]
        elif kind == "some":
            places = rng.integers(0, channels // 2, 3)
            of_pairs[0, places], of_pairs[1, places[:2]] = beyond[:3], (0, -128)  # which has no other sign
        x = numbers(rng, np.int8, (1, 2, pixels, channels))
        x[:, 0] = rng.choice(np.array([-128, 127], np.int8), (pixels, 1))  # the largest sums
        operands = {
            "x": Operand(x), "w": Operand(w, False, "constant"), "sums": zeros(np.int32, (1, 2, pixels, outputs)),
        }  # fmt: skip
        attributes = {"x_zero": (-128, 0, 127)[channels % 3], "stride": 1, "pad": 0, "down": (0, 2)[pixels % 2]}
        yield Case("integer_conv", operands, attributes, 1, f"{kind} {channels} {outputs} {pixels}")


def clip_same_scale() -> Iterator[Case]:
    """Numbers of one scale on both sides, int16 and bytes, short rows and long ones."""
    rng = np.random.default_rng(14)
    for dtype, shift, channels in product((np.int8, np.int16), (0, 13, 30, 31), (1, 31, 64, 65, 700)):
        x = numbers(rng, dtype, (2, 1, 3, channels))
        attributes = {
            "x_zero": int(rng.integers(-90, 90)), "mantissa": 1 << shift, "shift": shift,
            "y_zero": int(rng.integers(-90, 90)), "low": -100, "high": 101 if dtype is np.int8 else shift // 30 << 32,
        }  # fmt: skip
        operands = {"x": Operand(x), "y": zeros(dtype, x.shape)}
        yield Case("clip", operands, attributes, 2, f"{dtype.__name__} {shift} {channels}")


LAYERS = {
    "integer_conv_limits": integer_conv_limits,
    "integer_conv_maps": integer_conv_maps,
    "integer_conv_byte_sums": integer_conv_byte_sums,
    "clip_same_scale": clip_same_scale,
}
