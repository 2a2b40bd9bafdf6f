"""Every accumulator of an operation at the worst case that docs/law.md states for it, in both directions."""

from __future__ import annotations

from tests.engine.law.arrays import build, shape_of
from tests.engine.law.case import Case, Held

STEEP = {"peak": 2**26, "peak_shift": 30, "slope_mantissa": 2**30, "slope_shift": 11}
LAST = {"samples": 1, "seed": 2**64 - 1, "step": 2**32 - 1, "rate_mantissa": 2**31 - 1, "rate_shift": 31}


def full(dtype: str, value: int, *shape: int, per_sample: bool = True) -> Held:
    """The same value everywhere; the first dimension counts samples."""
    return Held(dtype, per_sample, build(shape, lambda *_: value))


def ones(channels: int, *shape: int, per_sample: bool = True) -> Held:
    """Packed rows of +1."""
    words = [2**64 - 1] * (channels // 64) + ([2 ** (channels % 64) - 1] if channels % 64 else [])
    return Held("uint64", per_sample, build((*shape, len(words)), lambda *at: words[at[-1]]))


def both(dtype: str, value: int, *shape: int, per_sample: bool = True) -> Held:
    """value and -value alternate along the last dimension."""
    return Held(dtype, per_sample, build(shape, lambda *at: value if at[-1] % 2 == 0 else -value))


def room(like: Held, dtype: str) -> Held:
    return Held(dtype, like.per_sample, build(shape_of(like.values), lambda *_: 0))


EXPONENT = full("int32", -40, 1)
OUT = full("int32", 0, 1)
PIXEL = both("int32", 2**23 - 1, 1, 1, 1, 2)
WIDE = both("int64", 2**36 - 1, 1, 1, 1, 2)
MORE = {"other_factor": 2**39 - 1, "other_shift": 20, "other_bound": 62}
MAP = (1, 15, 17, 2)

EXTREMES = [
    *[Case(f"9 * 3640 {name}", "binary_conv", {"x": ones(3640, 1, 1, 1), "w": w, "sums": full("int16", 0, 1, 1, 1, 1)},
           {"channels": 3640, "stride": 1, "pad": 1, "padding": 1})
      for name, w in (("equal signs", ones(3640, 1, 3, 3, per_sample=False)),
                      ("opposite signs", full("uint64", 0, 1, 3, 3, 57, per_sample=False)))],
    *[Case(f"65535 outputs at 16 bits, {value}", "binary_conv_input_grad",
           {"g": full("int16", value, 1, 1, 1, 65535), "w": ones(1, 65535, 1, 1, per_sample=False),
            "gx": full("int32", 0, 1, 1, 1, 1)}, {"channels": 1, "stride": 1, "pad": 0}) for value in (32767, -32767)],
    Case("9 * 512 outputs at 32 bits", "binary_conv_input_grad",
         {"g": full("int32", 2**23 - 1, 1, 3, 3, 512), "w": ones(1, 512, 3, 3, per_sample=False),
          "gx": full("int64", 0, 1, 3, 3, 1)}, {"channels": 1, "stride": 1, "pad": 1}),
    *[Case(f"two terms of 62 bits, {bits} bits", "sign_input_grad",
           {"g": WIDE, "e": EXPONENT, "x": full("int32", 0, 1, 1, 1, 2), "other": PIXEL, "other_e": EXPONENT,
            "gx": room(PIXEL, dtype), "ex": OUT}, {"zero": 0, "bound": 62, "bits": bits} | STEEP | MORE)
      for bits, dtype in ((8, "int8"), (16, "int16"), (32, "int32"))],
    Case("one term of 62 bits", "sign_input_grad",
         {"g": WIDE, "e": EXPONENT, "x": full("int32", 0, 1, 1, 1, 2), "other": None, "other_e": None,
          "gx": room(PIXEL, "int32"), "ex": OUT},
         {"zero": 0, "bound": 62, "bits": 32, "other_factor": 0, "other_shift": 0, "other_bound": 0} | STEEP),
    Case("two terms of 62 bits", "gradient_sum",
         {"g": PIXEL, "e": EXPONENT, "other": PIXEL, "other_e": EXPONENT, "gx": room(PIXEL, "int32"), "ex": OUT},
         {"factor": 2**39 - 1, "shift": 20, "bound": 62, "bits": 32} | MORE),
    *[Case(f"x a < 2^60, b < 2^61, shortcut < 2^60, shift {shift}", "affine",
           {"x": both("int32", 2**29 - 1, 1, 1, 1, 2), "a": full("int32", 2**31 - 1, 2, per_sample=False),
            "b": both("int64", 2**61 - 1, 2, per_sample=False), "residual": both("int32", 2**24 - 1, 1, 1, 1, 2),
            "y": full("int32", 0, 1, 1, 1, 2), "saturated": full("int64", 0, 1, per_sample=False)},
           {"x_zero": 0, "shift": shift, "y_zero": 0, "low": -(2**23), "high": 2**23 - 1, "residual_zero": 0,
            "residual_factor": 2**36 - 1}) for shift in (0, 39, 40, 57)],
    Case("masters and constants at their limits", "batchnorm_fold",
         {"gamma": both("int32", 2**31 - 1, 4, per_sample=False), "beta": both("int32", 2**31 - 1, 4, per_sample=False),
          "mean": Held("int32", False, [1 - 2**30, 2**30 - 1, 2**30 - 1, 1 - 2**30]),
          "factor": full("int32", 2**30 - 1, 4, per_sample=False), "a": full("int32", 0, 4, per_sample=False),
          "b": full("int64", 0, 4, per_sample=False)},
         {"a_shift": 30, "a_limit": 2**31 - 1, "mean_shift": 0, "beta_mantissa": 2**31 - 1, "beta_shift": 0}),
    Case("24 bits by 31", "affine_input_grad",
         {"g": PIXEL, "e": EXPONENT, "a": full("int32", 2**31 - 1, 2, per_sample=False), "gx": room(PIXEL, "int32"),
          "ex": OUT}, {"shift": 0, "bits": 32}),
    Case("255 pixels of 23 by 31 bits", "affine_param_grad",
         {"g": both("int32", 2**23 - 1, *MAP), "e": EXPONENT, "x": full("int32", 2**31 - 1, *MAP),
          "p": full("int64", 0, 2, per_sample=False), "q": full("int64", 0, 2, per_sample=False),
          "pe": full("int32", 0, 1, per_sample=False)}, {"x_zero": 0, "bound": 62}),
    Case("p and mean q of 61 bits, opposite", "batchnorm_update",
         {"gamma": full("int32", 0, 2, per_sample=False), "beta": full("int32", 0, 2, per_sample=False),
          "p": both("int64", 2**49 - 1, 2, per_sample=False), "q": both("int64", 2**31, 2, per_sample=False),
          "pe": full("int32", -110, 1, per_sample=False), "mean": full("int32", 1 - 2**30, 2, per_sample=False),
          "factor": full("int32", 2**30 - 1, 2, per_sample=False)},
         {"mean_shift": 12, "gamma_mantissa": 2**31 - 1, "gamma_shift": 0, "beta_mantissa": 2**31 - 1, "beta_shift": 0,
          "number": 3}, LAST),
    *[Case(f"32,768 pixels of 16 bits, shift {shift}", "average_pool",
           {"x": full("int16", 32767, 1, 128, 256, 1), "y": full("int16", 0, 1, 1, 1, 1)},
           {"window_h": 128, "window_w": 256, "x_zero": -32768, "mantissa": 2**31 - 1, "shift": shift, "y_zero": -32768,
            "low": -32768, "high": 32767}) for shift in (46, 62)],
    Case("24 bits by 31", "average_pool_input_grad",
         {"g": PIXEL, "e": EXPONENT, "gx": room(PIXEL, "int32"), "ex": OUT},
         {"window_h": 1, "window_w": 1, "mantissa": 2**31 - 1, "shift": 31, "bits": 32}),
    Case("sums of 62 bits", "integer_conv",
         {"x": both("int32", 2**23 - 1, 1, 1, 1, 65535), "sums": full("int32", 0, 1, 1, 1, 2),
          "w": Held("int32", False, [[[[s * v for v in (2**23 - 1, 1 - 2**23) * 32768][:65535]]] for s in (1, -1)])},
         {"x_zero": 0, "stride": 1, "pad": 0, "down": 32}),
    Case("sums of 62 bits", "dense",
         {"x": full("int32", 2**23 - 1, 1, 1, 1, 32767), "exponent": full("int32", 8, 1, per_sample=False),
          "operand": Held("int32", False, [[2**23 - 1] * 32767, [1 - 2**23] * 32767]),
          "weights": Held("int32", False, [[0] * 32767 + [w] for w in (2**31 - 1, 1 - 2**31)]),
          "active": full("uint8", 1, 2, per_sample=False), "logits": full("int32", 0, 1, 2)},
         {"x_zero": -(2**23), "down": 31, "mantissa": 2**31 - 1, "shift": 70, "bias_shift": 12}),
    Case("32,767 classes at 24 bits", "dense_input_grad",
         {"g": full("int32", 2**23 - 1, 1, 32767), "e": EXPONENT, "exponent": full("int32", 8, 1, per_sample=False),
          "operand": full("int32", 2**23 - 1, 32767, 1, per_sample=False), "gx": full("int32", 0, 1, 1, 1, 1),
          "ex": OUT}, {"down": 30, "mantissa": 2**31 - 1, "shift": 64, "bits": 32}),
    Case("three samples at 24 bits", "dense_param_grad",
         {"g": both("int32", 2**23 - 1, 3, 2), "e": Held("int32", True, [-40, -40, -40]),
          "x": full("int32", 2**23 - 1, 3, 1, 1, 1), "gw": full("int64", 0, 2, 2, per_sample=False),
          "ge": full("int32", 0, 1, per_sample=False)}, {"x_zero": -(2**23), "bound": 47}, {"samples": 3}),
    *[Case(f"62 bits by 31, exponent {exponent}", "dense_update",
           {"weights": both("int32", 2**31 - 1, 2, 2, per_sample=False),
            "gw": both("int64", 2**62 - 1, 2, 2, per_sample=False), "ge": full("int32", exponent, 1, per_sample=False)},
           {"mantissa": 2**31 - 1, "shift": 31, "bias_mantissa": 2**31 - 1, "bias_shift": 31, "number": 0},
           LAST) for exponent in (-31, -61, -62, -63, -124, 40)],
    Case("logits at both ends", "cross_entropy",
         {"logits": Held("int32", True, [[2**31 - 1, 1 - 2**31], [1 - 2**31, 2**31 - 1]]), "g": full("int32", 0, 2, 2),
          "labels": full("int32", 0, 2), "e": full("int32", 0, 2), "p_label": full("int32", 0, 2)},
         {"bits": 32}, {"samples": 2}),
    Case("4,096 equal logits", "cross_entropy",
         {"logits": full("int32", 2**31 - 1, 1, 4096), "labels": full("int32", 7, 1), "g": full("int16", 0, 1, 4096),
          "e": full("int32", 0, 1), "p_label": full("int32", 0, 1)}, {"bits": 16}),
]  # fmt: skip
