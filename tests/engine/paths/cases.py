"""Random operands for each kernel, in sizes around the word and the vector, with extremes among them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bitreplay.engine.arithmetic.packing import pack, words_for
from tests.engine.paths.conv_cases import binary_conv, binary_conv_input_grad, integer_conv, integer_conv_input_grad
from tests.engine.paths.latent_cases import latent_signs, latent_update
from tests.engine.paths.one_record import Case, Operand
from tests.engine.paths.operands import STORED, exponents, numbers, zeros

CHANNELS = (1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129)
BITS = {np.int8: 8, np.int16: 16, np.int32: 32}
LEVEL_BITS: dict[type, int] = {np.int8: 8, np.int16: 16, np.int32: 24}  # of the numbers that a level code is made of
HEADS: list[tuple[type, int]] = [(np.int8, 1), (np.int8, 10), (np.int16, 300), (np.int32, 3)]


def pack_signs_case(rng: np.random.Generator, dtype: type, shape: tuple[int, ...]) -> Case:
    zero = int(rng.integers(-100, 100))
    x = numbers(rng, dtype, shape)
    x.reshape(-1)[-1] = zero
    bits = zeros(np.uint64, (*shape[:-1], words_for(shape[-1])))
    operands = {"x": Operand(x), "bits": bits}
    return Case("pack_signs", operands, {"zero": zero}, shape[0], f"{dtype.__name__} {shape}")


def pack_signs() -> Iterator[Case]:
    rng = np.random.default_rng(1)
    for channels in CHANNELS:
        for dtype in STORED:
            yield pack_signs_case(rng, dtype, (2, 3, 1, channels))


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


def level_cases(rng: np.random.Generator, dtype: type, bits: int, shape: tuple[int, ...]) -> Iterator[Case]:
    """Encode and decode; with a table up to 4 bits."""
    channels, cut_from = shape[-1], LEVEL_BITS[dtype]
    latent_shape = (*shape[:-1], bits * words_for(channels))
    attributes = {"bits": bits, "low": -(1 << (cut_from - 1)), "cut": max(cut_from - bits, 0)}
    x = numbers(rng, dtype, shape, (1 << (cut_from - 1)) - 1)
    encode, decode = {"x": Operand(x), "code": zeros(np.uint64, latent_shape)}, {"x": zeros(dtype, shape)}
    decode["code"] = Operand(np.concatenate([pack(rng.random(shape) < 0.5) for _ in range(bits)], -1))
    if bits <= 4:
        thresholds = np.sort(numbers(rng, np.int32, (channels, 2**bits - 1), 100), axis=1)
        encode["thresholds"] = Operand(thresholds, False, "constant")
        decode["values"] = Operand(numbers(rng, np.int32, (channels, 2**bits), 127), False, "constant")
    label = f"{dtype.__name__} {bits} {shape}"
    yield Case("encode_latents", encode, attributes, shape[0], label)
    yield Case("decode_latents", decode, attributes, shape[0], label)


def latent_code() -> Iterator[Case]:
    rng = np.random.default_rng(8)
    for channels in CHANNELS:
        for dtype in STORED:
            for bits in (1, 2, 4, 8, 16):
                yield from level_cases(rng, dtype, bits, (2, 1, 3, channels))


def dense_case(rng: np.random.Generator, x_type: type, features: int, classes: int, samples: int = 2) -> Case:
    limit = min(np.iinfo(x_type).max, 1 << 23)
    operands = {
        "x": Operand(numbers(rng, x_type, (samples, 1, 1, features), limit)),
        "operand": Operand(numbers(rng, x_type, (classes, features), limit), False),
        "exponent": Operand(np.array([9], np.int32), False),
        "weights": Operand(numbers(rng, np.int32, (classes, features + 1)), False),
        "active": Operand((rng.random(classes) < 0.7).astype(np.uint8), False),
        "logits": zeros(np.int32, (samples, classes)),
    }
    attributes = {"x_zero": -1, "down": 5, "mantissa": 0x60000000, "shift": 40, "bias_shift": 12}
    return Case("dense", operands, attributes, samples, f"{x_type.__name__} {features} {classes}")


def dense() -> Iterator[Case]:
    rng = np.random.default_rng(10)
    for features in (1, 15, 16, 33, 64, 300):
        for x_type, classes in HEADS:
            yield dense_case(rng, x_type, features, classes)


KERNELS = {
    "pack_signs": pack_signs, "binary_conv": binary_conv, "binary_conv_input_grad": binary_conv_input_grad,
    "affine": affine, "affine_input_grad": affine_input_grad, "affine_param_grad": affine_param_grad,
    "sign_input_grad": sign_input_grad, "latent_code": latent_code, "integer_conv": integer_conv, "dense": dense,
    "latent_signs": latent_signs, "latent_update": latent_update, "integer_conv_input_grad": integer_conv_input_grad,
}  # fmt: skip
