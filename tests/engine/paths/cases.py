"""Random operands for each kernel, in sizes around the word and the vector, with extremes among them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.bits import pack, words_for
from tests.engine.paths.latent_cases import latent_signs, latent_update
from tests.engine.paths.one_record import Case, Operand

CHANNELS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129)
STORED = (np.int8, np.int16, np.int32)
BITS = {np.int8: 8, np.int16: 16, np.int32: 32}
WIDTHS: list[tuple[type, type, int]] = [
    (np.int8, np.int8, 0), (np.int16, np.int8, 0), (np.int16, np.int16, 8), (np.int32, np.int32, 20),
    (np.int8, np.int16, 0),
]  # fmt: skip
HEADS: list[tuple[type, int]] = [(np.int8, 1), (np.int8, 10), (np.int16, 300), (np.int32, 3)]


def numbers(rng: np.random.Generator, dtype: type, shape: tuple[int, ...], limit: int | None = None) -> NDArray:
    """Random integers; zero and the extremes are among them."""
    info = np.iinfo(dtype)
    low, high = (int(info.min), int(info.max)) if limit is None else (-limit, limit)
    values = rng.integers(low, high, shape, dtype, endpoint=True)
    flat = values.reshape(-1)
    for at, value in zip(rng.permutation(flat.size)[:3], (0, low, high), strict=False):
        flat[at] = value
    return values


def exponents(rng: np.random.Generator, samples: int) -> Operand:
    """Exponents of gradients, one sample without."""
    values = rng.integers(-60, -20, samples).astype(np.int32)
    if samples > 2:
        values[1] = -(1 << 20)
    return Operand(values)


def zeros(dtype: type, shape: tuple[int, ...], per_sample: bool = True) -> Operand:
    return Operand(np.zeros(shape, dtype), per_sample)


def pack_signs() -> Iterator[Case]:
    rng = np.random.default_rng(1)
    for channels in CHANNELS:
        for dtype in STORED:
            zero = int(rng.integers(-100, 100))
            x = numbers(rng, dtype, (2, 3, 1, channels))
            x.reshape(-1)[-1] = zero
            bits = zeros(np.uint64, (2, 3, 1, words_for(channels)))
            yield Case("pack_signs", {"x": Operand(x), "bits": bits}, {"zero": zero}, 2, f"{dtype.__name__} {channels}")


def binary_conv() -> Iterator[Case]:
    rng = np.random.default_rng(2)
    geometries = [(1, 1, 1, 1, 0), (4, 4, 3, 1, 1), (5, 3, 3, 2, 1), (2, 2, 3, 1, 1), (5, 5, 5, 2, 2), (3, 3, 1, 2, 0)]
    for height, width, kernel, stride, pad in geometries:
        for channels, outputs in [(1, 1), (63, 7), (64, 8), (65, 9), (130, 33), (200, 41)]:
            for padding in (0, 1):
                shape = [(size + 2 * pad - kernel) // stride + 1 for size in (height, width)]
                operands = {
                    "x": Operand(pack(rng.random((2, height, width, channels)) < 0.5)),
                    "w": Operand(pack(rng.random((outputs, kernel, kernel, channels)) < 0.5), False, "constant"),
                    "sums": zeros(np.int16, (2, *shape, outputs)),
                }
                attributes = {"channels": channels, "stride": stride, "pad": pad, "padding": padding}
                yield Case("binary_conv", operands, attributes, 2, f"{(height, width, kernel, stride, channels)}")


def binary_conv_input_grad() -> Iterator[Case]:
    rng = np.random.default_rng(3)
    for height, width, kernel, stride, pad in [(1, 1, 1, 1, 0), (4, 4, 3, 1, 1), (5, 3, 3, 2, 1), (2, 2, 3, 1, 1)]:
        for channels, outputs in [(1, 1), (15, 19), (16, 20), (17, 21), (63, 40), (64, 41), (65, 5), (130, 33)]:
            for dtype in STORED:
                for wide in (np.int32, np.int64):
                    shape = [(size + 2 * pad - kernel) // stride + 1 for size in (height, width)]
                    operands = {
                        "g": Operand(numbers(rng, dtype, (3, *shape, outputs))),
                        "w": Operand(pack(rng.random((outputs, kernel, kernel, channels)) < 0.5), False, "constant"),
                        "gx": zeros(wide, (3, height, width, channels)),
                    }
                    attributes = {"channels": channels, "stride": stride, "pad": pad}
                    yield Case(
                        "binary_conv_input_grad", operands, attributes, 3, f"{dtype.__name__} {channels} {outputs}"
                    )
    # All gradients at the lowest value and all weights alike: the largest sums, over more outputs than one table holds.
    for dtype in (np.int8, np.int16):
        operands = {
            "g": Operand(np.full((1, 3, 3, 1100), np.iinfo(dtype).min, dtype)),
            "w": Operand(pack(np.ones((1100, 3, 3, 70), bool)), False, "constant"),
            "gx": zeros(np.int32, (1, 3, 3, 70)),
        }
        yield Case("binary_conv_input_grad", operands, {"channels": 70, "stride": 1, "pad": 1}, 1, "largest sums")


def affine() -> Iterator[Case]:
    rng = np.random.default_rng(4)
    for channels in CHANNELS:
        for x_type in STORED:
            for y_type in STORED:
                for residual in (False, True):
                    limit = 1 << 22
                    low, high = (-128, 127) if y_type is np.int8 else (-30000, 30000)
                    shape = (2, 1, 3, channels)
                    operands = {
                        "x": Operand(numbers(rng, x_type, shape, min(limit, np.iinfo(x_type).max))),
                        "a": Operand(numbers(rng, np.int32, (channels,)), False),
                        "b": Operand(rng.integers(-(1 << 50), 1 << 50, channels), False),
                        "y": zeros(y_type, shape),
                        "saturated": Operand(np.array([5], np.int64), False),
                    }
                    if residual:
                        operands["residual"] = Operand(numbers(rng, y_type, shape))
                    attributes = {
                        "x_zero": 3, "shift": int(rng.integers(30, 55)), "y_zero": -7, "low": low, "high": high,
                        "residual_zero": -2, "residual_factor": (1 << 34) + 5,
                    }  # fmt: skip
                    yield Case("affine", operands, attributes, 2, f"{x_type.__name__} {y_type.__name__} {channels}")


def affine_input_grad() -> Iterator[Case]:
    rng = np.random.default_rng(5)
    for channels in CHANNELS:
        for g_type in STORED:
            for gx_type in STORED:
                shape = (3, 2, 1, channels)
                operands = {
                    "g": Operand(numbers(rng, g_type, shape)),
                    "e": exponents(rng, 3),
                    "a": Operand(numbers(rng, np.int32, (channels,), 1 << 27), False),
                    "gx": zeros(gx_type, shape),
                    "ex": zeros(np.int32, (3,)),
                }
                operands["g"].content[1] = 0
                yield Case("affine_input_grad", operands, {"shift": 12, "bits": BITS[gx_type]}, 3, f"{channels}")


def affine_param_grad() -> Iterator[Case]:
    rng = np.random.default_rng(6)
    for channels in CHANNELS:
        for g_type in STORED:
            for x_type in (np.int8, np.int16):
                shape = (3, 2, 2, channels)
                operands = {
                    "g": Operand(numbers(rng, g_type, shape, min(1 << 23, np.iinfo(g_type).max))),
                    "e": exponents(rng, 3),
                    "x": Operand(numbers(rng, x_type, shape)),
                    "p": zeros(np.int64, (channels,), False),
                    "q": zeros(np.int64, (channels,), False),
                    "pe": zeros(np.int32, (1,), False),
                }
                yield Case("affine_param_grad", operands, {"x_zero": -3, "bound": 44}, 3, f"{channels}")


def sign_input_grad() -> Iterator[Case]:
    rng = np.random.default_rng(7)
    for channels in CHANNELS:
        for g_type in (np.int16, np.int32, np.int64):
            for gx_type in STORED:
                for other in (None, gx_type, np.int64):
                    shape = (3, 1, 2, channels)
                    operands = {
                        "g": Operand(numbers(rng, g_type, shape, min(1 << 31, np.iinfo(g_type).max))),
                        "e": exponents(rng, 3),
                        "x": Operand(numbers(rng, np.int8, shape)),
                        "gx": zeros(gx_type, shape),
                        "ex": zeros(np.int32, (3,)),
                    }
                    if other is not None:
                        operands["other"] = Operand(numbers(rng, other, shape, min(1 << 20, np.iinfo(other).max)))
                        operands["other_e"] = exponents(rng, 3)
                    attributes = {
                        "zero": 4, "peak": 1 << 25, "peak_shift": 30, "slope_mantissa": 0x5A5A5A5A, "slope_shift": 12,
                        "bound": 57, "bits": BITS[gx_type], "other_factor": 77777, "other_shift": 9, "other_bound": 37,
                    }  # fmt: skip
                    yield Case("sign_input_grad", operands, attributes, 3, f"{g_type.__name__} {other} {channels}")


def level_code() -> Iterator[Case]:
    rng = np.random.default_rng(8)
    for channels in CHANNELS:
        for dtype, cut_from in ((np.int8, 8), (np.int16, 16), (np.int32, 24)):
            for bits in (1, 2, 4, 8, 16):
                x = numbers(rng, dtype, (2, 1, 3, channels), (1 << (cut_from - 1)) - 1)
                code = zeros(np.uint64, (2, 1, 3, bits * words_for(channels)))
                attributes = {"bits": bits, "low": -(1 << (cut_from - 1)), "cut": max(cut_from - bits, 0)}
                encode, decode = {"x": Operand(x), "code": code}, {"x": zeros(dtype, x.shape)}
                decode["code"] = Operand(np.concatenate([pack(rng.random(x.shape) < 0.5) for _ in range(bits)], -1))
                if bits <= 4:
                    thresholds = np.sort(numbers(rng, np.int32, (channels, 2**bits - 1), 100), axis=1)
                    encode["thresholds"] = Operand(thresholds, False, "constant")
                    decode["values"] = Operand(numbers(rng, np.int32, (channels, 2**bits), 127), False, "constant")
                yield Case("encode_level", encode, attributes, 2, f"{bits} {channels}")
                yield Case("decode_level", decode, attributes, 2, f"{bits} {channels}")


def integer_conv() -> Iterator[Case]:
    rng = np.random.default_rng(9)
    for height, width, kernel, stride, pad in [(1, 1, 1, 1, 0), (5, 4, 3, 1, 1), (5, 3, 3, 2, 1), (4, 4, 1, 2, 0)]:
        for channels, outputs in [(1, 1), (3, 16), (3, 17), (16, 15), (33, 64), (64, 9)]:
            for x_type, w_type, down in WIDTHS:
                shape = [(size + 2 * pad - kernel) // stride + 1 for size in (height, width)]
                operands = {
                    "x": Operand(
                        numbers(rng, x_type, (2, height, width, channels), min(np.iinfo(x_type).max, 1 << 23))
                    ),
                    "w": Operand(numbers(rng, w_type, (outputs, kernel, kernel, channels)), False, "constant"),
                    "sums": zeros(np.int32, (2, *shape, outputs)),
                }
                attributes = {"x_zero": 5, "stride": stride, "pad": pad, "down": down}
                yield Case("integer_conv", operands, attributes, 2, f"{x_type.__name__} {channels} {outputs}")


def dense() -> Iterator[Case]:
    rng = np.random.default_rng(10)
    for features in (1, 15, 16, 33, 64, 300):
        for x_type, classes in HEADS:
            operands = {
                "x": Operand(numbers(rng, x_type, (2, 1, 1, features), min(np.iinfo(x_type).max, 1 << 23))),
                "operand": Operand(
                    numbers(rng, x_type, (classes, features), min(np.iinfo(x_type).max, 1 << 23)), False
                ),
                "exponent": Operand(np.array([9], np.int32), False),
                "weights": Operand(numbers(rng, np.int32, (classes, features + 1)), False),
                "active": Operand((rng.random(classes) < 0.7).astype(np.uint8), False),
                "logits": zeros(np.int32, (2, classes)),
            }
            attributes = {"x_zero": -1, "down": 5, "mantissa": 0x60000000, "shift": 40, "bias_shift": 12}
            yield Case("dense", operands, attributes, 2, f"{x_type.__name__} {features} {classes}")


KERNELS = {
    "pack_signs": pack_signs, "binary_conv": binary_conv, "binary_conv_input_grad": binary_conv_input_grad,
    "affine": affine, "affine_input_grad": affine_input_grad, "affine_param_grad": affine_param_grad,
    "sign_input_grad": sign_input_grad, "level_code": level_code, "integer_conv": integer_conv, "dense": dense,
    "latent_signs": latent_signs, "latent_update": latent_update,
}  # fmt: skip
