"""Accumulators of the further layers at their stated worst case, in both directions."""

from __future__ import annotations

from tests.engine.law.case import Case, Held
from tests.engine.law.extremes import EXPONENT, LAST, MAP, MORE, OUT, PIXEL, WIDE, both, full, ones, room

STEEP = {"zero": 0, "point": 5, "peak": 2**26, "slope_mantissa": 2**31 - 1, "slope_shift": 40}
NO_OTHER = {"other_factor": 0, "other_shift": 0, "other_bound": 0}
FAR = Held("int32", False, [2**30 - 1, 1 - 2**30])
MOST = full("int32", 2**23 - 1, 1, 1, 1, 2)
LARGE = both("int32", 2**23 - 1, *MAP)
WIDE_MAP = both("int64", 2**36 - 1, *MAP)
# 24 bits of activation, 4 behind the point, a shift of twice the range: |z| < 2^30, slopes below 2^30.
RPRELU = {"x_zero": -(2**23), "point": 4, "one": 2**30 - 1}
SHIFTS = Held("int32", False, [1 - 2**29, 2**29 - 1])
SLOPES = both("int32", 2**30 - 1, 2, per_sample=False)
RANGE = {"low": -(2**23), "high": 2**23 - 1}
# 65,535 products of 23 and 23 bits.
ROW = [2**23 - 1, 1 - 2**23] * 32768
ROWS = [[[[s * v for v in ROW[:65535]]]] for s in (1, -1)]


def numbers(dtype: str, count: int = 2) -> Held:
    return full(dtype, 0, count, per_sample=False)


EXTREMES = [
    *[Case(f"|g factor| < 2^62{name}", "clipped_sign_input_grad",
           {"g": WIDE, "e": EXPONENT, "mask": full("uint64", 3, 1, 1, 1, 1), "other": other, "other_e": other_e,
            "gx": room(PIXEL, "int32"), "ex": OUT}, {"factor": 2**26, "shift": 40, "bound": 62, "bits": 32} | more)
      for name, other, other_e, more in (("", None, None, NO_OTHER), (", and a second term", PIXEL, EXPONENT, MORE))],
    Case("distances of 31 bits", "pack_signs_above",
         {"x": MOST, "threshold": FAR, "bits": full("uint64", 0, 1, 1, 1, 1)}, {"zero": -(2**23), "point": 5}),
    *[Case(f"|g d| < 2^62{name}", "rsign_input_grad",
           {"g": WIDE, "e": EXPONENT, "x": MOST, "threshold": full("int32", 0, 2, per_sample=False), "other": other,
            "other_e": other_e, "gx": room(PIXEL, "int32"), "ex": OUT},
           STEEP | {"zero": 2**23 - 1, "peak_shift": 40, "bound": 62, "bits": 32} | more)
      for name, other, other_e, more in (("", None, None, NO_OTHER), (", and a second term", PIXEL, EXPONENT, MORE))],
    Case("255 products of 62 bits", "rsign_param_grad",
         {"g": WIDE_MAP, "e": EXPONENT, "x": full("int32", 5, *MAP),
          "threshold": full("int32", 0, 2, per_sample=False), "p": numbers("int64"), "pe": numbers("int32", 1)},
         STEEP | {"zero": 5, "down": 8, "bound": 62}),
    Case("distances of 31 bits", "rsign_param_grad",
         {"g": WIDE, "e": EXPONENT, "x": MOST, "threshold": FAR, "p": numbers("int64"), "pe": numbers("int32", 1)},
         STEEP | {"zero": -(2**23), "slope_shift": 62, "down": 1, "bound": 62}),
    *[Case(f"255 pixels of 31 bits, {bits} bits", "latent_update",
           {"latent": full(dtype, 0, 2, 1, 1, 1, per_sample=False), "g": LARGE, "e": EXPONENT, "x": ones(1, 1, 15, 17)},
           {"channels": 1, "stride": 1, "pad": 0, "padding": 0, "bits": bits, "up": 8, "mantissa": 2**31 - 1,
            "shift": -20, "number": 1}, LAST)
      for bits, dtype in ((4, "uint8"), (8, "int8"), (16, "int16"), (32, "int32"))],
    Case("31 by 31 bits", "learned_operand",
         {"master": both("int32", 2**31 - 1, 2, per_sample=False), "operand": numbers("int64")},
         {"mantissa": 2**31 - 1, "shift": 0, "limit": 2**61 - 1}),
    *[Case(f"62 bits by 31, exponent {exponent}", "learned_update",
           {"master": both("int32", 2**31 - 1, 2, per_sample=False), "p": both("int64", 2**62 - 1, 2, per_sample=False),
            "pe": full("int32", exponent, 1, per_sample=False)},
           {"mantissa": 2**31 - 1, "shift": 31, "at": 0, "number": 0}, LAST) for exponent in (-31, -62, -124, 40)],
    *[Case(f"|z A| < 2^60, |O| < 2^61, shift {shift}", "rprelu",
           {"x": MOST, "s": SHIFTS, "b": SLOPES, "o": both("int64", 2**61 - 1, 2, per_sample=False),
            "y": room(PIXEL, "int32"), "saturated": numbers("int64", 1)},
           RPRELU | RANGE | {"shift": shift, "y_zero": 0})
      for shift in (0, 38, 57)],
    Case("24 by 31 bits", "rprelu_input_grad",
         {"g": PIXEL, "e": EXPONENT, "x": MOST, "s": SHIFTS, "b": SLOPES, "gx": room(PIXEL, "int32"), "ex": OUT},
         RPRELU | {"shift": 0, "bits": 32}),
    Case("255 pixels of 23 bits by 30 and 30", "rprelu_param_grad",
         {"g": LARGE, "e": EXPONENT, "x": full("int32", -(2**23), *MAP),
          "s": full("int32", 2**29 - 1, 2, per_sample=False), "b": SLOPES, "ps": numbers("int64"),
          "pb": numbers("int64"), "po": numbers("int64"), "pe": numbers("int32", 3)},
         RPRELU | {"slope_down": 0, "slope_bound": 62, "z_down": 0, "z_bound": 62, "g_bound": 31}),
    Case("24 by 31 bits", "clip",
         {"x": MOST, "y": room(PIXEL, "int32")},
         RANGE | {"x_zero": -(2**23), "mantissa": 2**31 - 1, "shift": 40, "y_zero": 0}),
    Case("24 by 31 bits", "clip_input_grad",
         {"g": PIXEL, "e": EXPONENT, "x": MOST, "gx": room(PIXEL, "int32"), "ex": OUT},
         {"above": 0, "below": 2**32, "mantissa": 2**31 - 1, "shift": 0, "bits": 32}),
    Case("two terms of 24 by 36 bits", "add",
         {"a": MOST, "b": MOST, "y": room(PIXEL, "int32"), "saturated": numbers("int64", 1)},
         RANGE | {"a_zero": -(2**23), "a_factor": 2**36 - 1, "b_zero": -(2**23), "b_factor": 2**36 - 1, "shift": 37,
                  "y_zero": 0}),
    Case("x a + b at the limit, shifted up, and a shortcut below 2^60", "affine_fine",
         {"x": both("int16", 32767, 1, 1, 1, 2), "a": full("int32", 2**31 - 1, 2, per_sample=False),
          "b": both("int64", 2**61 - 1, 2, per_sample=False), "residual": both("int32", 2**23 - 1, 1, 1, 1, 2),
          "y": room(PIXEL, "int32"), "saturated": numbers("int64", 1)},
         RANGE | {"x_zero": 0, "shift": 40, "y_zero": 0, "residual_zero": 0, "residual_factor": 2**36 - 1, "up": 14,
                  "limit": (2**61 - 1) >> 14}),
    Case("24 by 31 bits", "concat",
         {"x": MOST, "y": room(PIXEL, "int32")},
         RANGE | {"first": 0, "x_zero": -(2**23), "mantissa": 2**31 - 1, "shift": 33, "y_zero": 0}),
    Case("24 by 31 bits", "concat_input_grad",
         {"g": PIXEL, "e": EXPONENT, "gx": room(PIXEL, "int32"), "ex": OUT},
         {"first": 0, "mantissa": 2**31 - 1, "shift": 0, "bits": 32}),
    Case("24 by 31 bits", "max_pool",
         {"x": MOST, "y": room(PIXEL, "int32"), "place": full("uint8", 0, 1, 1, 1, 2)},
         RANGE | {"window": 1, "stride": 1, "pad": 0, "x_zero": -(2**23), "mantissa": 2**31 - 1, "shift": 40,
                  "y_zero": 0}),
    Case("225 windows choose one pixel", "max_pool_input_grad",
         {"g": full("int32", 2**23 - 1, 1, 15, 15, 1),
          "e": EXPONENT, "place": Held("uint8", True, [[[[224 - 15 * i - j] for j in range(15)] for i in range(15)]]),
          "gx": full("int32", 0, 1, 1, 1, 1), "ex": OUT},
         {"window": 15, "stride": 1, "pad": 14, "mantissa": 2**31 - 1, "shift": 0, "bits": 32}),
    Case("sums of 31 bits by 31", "filter_pool",
         {"x": full("int32", 2**23 - 1, 1, 11, 11, 1), "kernel": full("int32", 1, 11, 11, per_sample=False),
          "y": full("int32", 0, 1, 1, 1, 1)},
         RANGE | {"stride": 1, "pad": 0, "x_zero": -(2**23), "mantissa": 2**31 - 1, "shift": 40, "y_zero": 0}),
    Case("121 gradients of 23 bits by 31", "filter_pool_input_grad",
         {"g": full("int32", 2**23 - 1, 1, 11, 11, 1), "e": EXPONENT,
          "kernel": full("int32", 1, 11, 11, per_sample=False), "gx": full("int32", 0, 1, 1, 1, 1), "ex": OUT},
         {"stride": 1, "pad": 10, "mantissa": 2**31 - 1, "shift": 0, "bits": 32}),
    Case("masters at both ends", "conv_operand",
         {"weights": both("int32", 2**31 - 1, 2, 1, 1, 2, per_sample=False),
          "operand": full("int32", 0, 2, 1, 1, 2, per_sample=False), "exponents": numbers("int32")}, {"bits": 32}),
    Case("sums of 62 bits", "learned_conv",
         {"x": both("int32", 2**23 - 1, 1, 1, 1, 65535), "w": Held("int32", False, ROWS),
          "exponents": full("int32", 8, 2, per_sample=False), "sums": full("int32", 0, 1, 1, 1, 2)},
         {"x_zero": 0, "stride": 1, "pad": 0, "down": 40, "limit": 2**31 - 1}),
    Case("65,535 outputs at 23 by 23 bits", "integer_conv_input_grad",
         {"g": full("int32", 2**23 - 1, 1, 1, 1, 65535), "e": EXPONENT,
          "w": full("int32", 2**23 - 1, 65535, 1, 1, 1, per_sample=False), "exponents": None,
          "gx": full("int32", 0, 1, 1, 1, 1), "ex": OUT}, {"stride": 1, "pad": 0, "room": 0, "down": 0, "bits": 32}),
    Case("255 outputs, exponents far apart, room of 8", "integer_conv_input_grad",
         {"g": full("int32", 2**23 - 1, 1, 1, 1, 255), "e": EXPONENT,
          "w": full("int32", 2**23 - 1, 255, 1, 1, 1, per_sample=False),
          "exponents": Held("int32", False, [100 * (o % 2) for o in range(255)]), "gx": full("int32", 0, 1, 1, 1, 1),
          "ex": OUT}, {"stride": 1, "pad": 0, "room": 8, "down": 0, "bits": 32}),
    Case("255 pixels of 23 by 24 bits", "learned_conv_update",
         {"weights": both("int32", 2**31 - 1, 2, 1, 1, 2, per_sample=False), "g": LARGE, "e": EXPONENT,
          "x": full("int32", 2**23 - 1, *MAP)},
         {"x_zero": -(2**23), "stride": 1, "pad": 0, "bound": 55, "mantissa": 2**31 - 1, "shift": 0, "number": 2},
         LAST),
    Case("nine products of 24 by 23 bits", "depthwise_conv",
         {"x": full("int32", 2**23 - 1, 1, 3, 3, 2),
          "w": Held("int32", False, [[[s * (2**23 - 1)] * 3] * 3 for s in (1, -1)]),
          "sums": full("int32", 0, 1, 1, 1, 2)},
         {"x_zero": -(2**23), "stride": 1, "pad": 0, "down": 21}),
    Case("nine products of 24 by 23 bits, at the limit", "learned_depthwise",
         {"x": full("int32", 2**23 - 1, 1, 3, 3, 2),
          "w": Held("int32", False, [[[s * (2**23 - 1)] * 3] * 3 for s in (1, -1)]),
          "exponents": full("int32", 8, 2, per_sample=False), "sums": full("int32", 0, 1, 1, 1, 2)},
         {"x_zero": -(2**23), "stride": 1, "pad": 0, "down": 9, "limit": 2**31 - 1}),
    Case("nine products of 23 by 23 bits", "depthwise_conv_input_grad",
         {"g": full("int32", 2**23 - 1, 1, 3, 3, 1), "e": EXPONENT,
          "w": Held("int32", False, [[[2**23 - 1] * 3] * 3]), "exponents": Held("int32", False, [9]),
          "gx": full("int32", 0, 1, 1, 1, 1), "ex": OUT}, {"stride": 1, "pad": 2, "room": 12, "down": 0, "bits": 32}),
    Case("255 pixels of 23 by 24 bits", "learned_depthwise_update",
         {"weights": both("int32", 2**31 - 1, 2, 1, 1, per_sample=False), "g": LARGE, "e": EXPONENT,
          "x": full("int32", 2**23 - 1, *MAP)},
         {"x_zero": -(2**23), "stride": 1, "pad": 0, "bound": 55, "mantissa": 2**31 - 1, "shift": 0, "number": 2},
         LAST),
]  # fmt: skip
