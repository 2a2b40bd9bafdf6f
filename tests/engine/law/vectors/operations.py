"""Inputs of the vector files of operations: small enough to be redone by hand."""

from __future__ import annotations

from tests.engine.law.arrays import Nested, build
from tests.engine.law.case import Case, Held

NONE = -(2**20)
RATE = {"rate_mantissa": 1374389535, "rate_shift": 37}  # 1/100
UNIT = 2**30  # with shift 30 the number 1


def each(dtype: str, values: Nested) -> Held:
    """Per sample."""
    return Held(dtype, True, values)


def whole(dtype: str, values: Nested) -> Held:
    return Held(dtype, False, values)


def zeros(dtype: str, *shape: int) -> Held:
    """Room for a result of one sample, or of the first dimension's samples."""
    return each(dtype, build(shape, lambda *_: 0))


def row(*values: int) -> Nested:
    """One pixel of one sample."""
    return [[[list(values)]]]


SIGN = {"zero": 0, "peak": 2**25, "peak_shift": 30, "slope_mantissa": UNIT, "slope_shift": 11, "bits": 8}
NO_OTHER = {"other_factor": 0, "other_shift": 0, "other_bound": 0}
AFFINE = {"x_zero": 0, "shift": 4, "y_zero": 3, "low": -128, "high": 127, "residual_zero": 0, "residual_factor": 0}
POOL = {"window_h": 2, "window_w": 2, "mantissa": UNIT, "shift": 32}
ONE_STEP = {"samples": 4, "seed": 5, "step": 6, **RATE}

CASES = [
    Case("zero counts as +1", "pack_signs",
         {"x": each("int8", row(-3, -2, -1, 0, 1)), "bits": zeros("uint64", 1, 1, 1, 1)}, {"zero": -1}),
    Case("65 channels take two words", "pack_signs",
         {"x": each("int16", row(*[c % 3 - 1 for c in range(65)])), "bits": zeros("uint64", 1, 1, 1, 2)}, {"zero": 0}),
    *[Case(f"a 3x3 kernel on a 2x2 map, padding {name}", "binary_conv",
           {"x": each("uint64", [[[[5], [2]], [[7], [0]]]]),
            "w": whole("uint64", [[[[1], [2], [3]], [[4], [5], [6]], [[7], [0], [1]]]]),
             "sums": zeros("int16", 1, 2, 2, 1)},
           {"channels": 3, "stride": 1, "pad": 1, "padding": number}) for number, name in enumerate(("zero", "one"))],
    Case("two outputs", "binary_conv_input_grad",
         {"g": each("int8", [[[[3, -2]]]]), "w": whole("uint64", [[[[1]]], [[[3]]]]), "gx": zeros("int32", 1, 1, 1, 2)},
         {"channels": 2, "stride": 1, "pad": 0}),
    Case("stride 2", "binary_conv_input_grad",
         {"g": each("int8", [[[[1], [10]]]]), "w": whole("uint64", [[[[1], [0], [1]]] * 3]),
          "gx": zeros("int32", 1, 1, 4, 1)}, {"channels": 1, "stride": 2, "pad": 1}),
    Case("2 - 2|x| at x = 0, 1/2, -1, 2", "sign_input_grad",
         {"g": each("int32", row(4, 4, 4, 4)), "e": each("int32", [-8]), "x": each("int8", row(0, 32, -64, 127)),
          "other": None, "other_e": None, "gx": zeros("int8", 1, 1, 1, 4), "ex": zeros("int32", 1)},
         SIGN | NO_OTHER | {"bound": 46}),
    Case("and a shortcut", "sign_input_grad",
         {"g": each("int32", row(4, 4)), "e": each("int32", [-8]), "x": each("int8", row(0, 32)),
          "other": each("int8", row(-64, 100)), "other_e": each("int32", [-20]), "gx": zeros("int8", 1, 1, 1, 2),
          "ex": zeros("int32", 1)},
         SIGN | {"bound": 46, "other_factor": 3, "other_shift": 1, "other_bound": 9}),
    Case("factor 3/2", "gradient_sum",
         {"g": each("int8", [[5, -100], [0, 0]]), "e": each("int32", [-10, NONE]), "other": None, "other_e": None,
          "gx": zeros("int8", 2, 2), "ex": zeros("int32", 2)},
         {"factor": 3, "shift": 1, "bound": 9, "bits": 8} | NO_OTHER, {"samples": 2}),
    Case("two terms", "gradient_sum",
         {"g": each("int8", [[5, -100], [0, 0]]), "e": each("int32", [-10, NONE]),
          "other": each("int8", [[100, 7], [1, 2]]),
          "other_e": each("int32", [-12, -30]), "gx": zeros("int8", 2, 2), "ex": zeros("int32", 2)},
         {"factor": 1, "shift": 0, "bound": 8, "bits": 8, "other_factor": 1, "other_shift": 0, "other_bound": 8},
         {"samples": 2}),
    Case("2u - 255", "image_table",
         {"image": each("uint8", row(0, 127, 255)), "y": zeros("int16", 1, 1, 1, 3),
          "table": whole("int16", [[2 * u - 255] * 3 for u in range(256)])}, {}),
    Case("taps outside read 0", "integer_conv",
         {"x": each("int8", [[[[3], [-1]]]]),
          "w": whole("int8", [[[[0], [0], [0]], [[5], [-7], [2]], [[0], [0], [0]]]]),
          "sums": zeros("int32", 1, 1, 2, 1)}, {"x_zero": 1, "stride": 1, "pad": 1, "down": 0}),
    Case("a shift down, with a tie", "integer_conv",
         {"x": each("int16", row(3, 2)), "w": whole("int16", [[[[4, 1]]], [[[-4, -1]]]]),
          "sums": zeros("int32", 1, 1, 1, 2)},
         {"x_zero": 0, "stride": 1, "pad": 0, "down": 2}),
    Case("gamma 1 and 1/2", "batchnorm_fold",
         {"gamma": whole("int32", [2**28, 2**27]), "beta": whole("int32", [2**28, -(2**26)]),
          "mean": whole("int32", [6, -5]),
          "factor": whole("int32", [3 * 2**10, 2**10]), "a": whole("int32", [0, 0]), "b": whole("int64", [0, 0])},
         {"a_shift": 34, "a_limit": 2**27 - 1, "mean_shift": 1, "beta_mantissa": UNIT, "beta_shift": 54}),
    Case("a tie, and both limits", "affine",
         {"x": each("int16", row(5, -5, 900, -900)), "a": whole("int32", [8, 8, 8, 8]),
          "b": whole("int64", [0, 0, 0, 0]),
          "residual": None, "y": zeros("int8", 1, 1, 1, 4), "saturated": whole("int64", [7])}, AFFINE),
    Case("the shortcut is added before the rounding", "affine",
         {"x": each("int16", row(1, 1)), "a": whole("int32", [4, 4]), "b": whole("int64", [2, 0]),
          "residual": each("int8", row(12, 11)), "y": zeros("int8", 1, 1, 1, 2), "saturated": whole("int64", [0])},
         AFFINE | {"residual_zero": 10, "residual_factor": 1}),
    Case("each channel its scale", "affine_input_grad",
         {"g": each("int8", row(100, 100)), "e": each("int32", [-9]), "a": whole("int32", [48, -3]),
          "gx": zeros("int8", 1, 1, 1, 2), "ex": zeros("int32", 1)}, {"shift": 4, "bits": 8}),
    Case("two samples, two exponents", "affine_param_grad",
         {"g": each("int8", [[[[3], [-1]]], [[[2], [2]]]]), "e": each("int32", [-10, -12]),
          "x": each("int16", [[[[5], [2]]], [[[1], [-3]]]]), "p": whole("int64", [0]), "q": whole("int64", [0]),
          "pe": whole("int32", [0])}, {"x_zero": 1, "bound": 50}, {"samples": 2}),
    Case("gamma and beta", "batchnorm_update",
         {"gamma": whole("int32", [2**28, -7]), "beta": whole("int32", [100, -(2**31) + 1]),
          "p": whole("int64", [1000, -3]),
          "q": whole("int64", [10, 2**40]), "pe": whole("int32", [-20]), "mean": whole("int32", [6, -5]),
          "factor": whole("int32", [3072, 1024])},
         {"mean_shift": 1, "gamma_mantissa": UNIT, "gamma_shift": 14, "beta_mantissa": UNIT, "beta_shift": 0,
          "number": 11},
         ONE_STEP),
    Case("means of four; a row is left over", "average_pool",
         {"x": each("int8", [[[[1], [2]], [[3], [4]], [[99], [99]]]]), "y": zeros("int8", 1, 1, 1, 1)},
         POOL | {"x_zero": 0, "y_zero": -5, "low": -128, "high": 127}),
    Case("a quarter to each", "average_pool_input_grad",
         {"g": each("int8", row(-96)), "e": each("int32", [-7]), "gx": zeros("int8", 1, 3, 2, 1),
          "ex": zeros("int32", 1)},
         POOL | {"bits": 8}),
    Case("one bit, threshold 2", "encode_latents",
         {"x": each("int8", row(1, 2, 3)), "thresholds": whole("int32", [[2], [2], [2]]),
          "code": zeros("uint64", 1, 1, 1, 1)},
         {"bits": 1, "low": -128, "cut": 7}),
    Case("two bits, two planes", "encode_latents",
         {"x": each("int8", row(-9, -1, 0, 5)), "thresholds": whole("int32", [[-5, 0, 5]] * 4),
          "code": zeros("uint64", 1, 1, 1, 2)}, {"bits": 2, "low": -128, "cut": 6}),
    Case("8 of 16 bits", "encode_latents",
         {"x": each("int16", row(-32768, 0, 511)), "thresholds": None, "code": zeros("uint64", 1, 1, 1, 8)},
         {"bits": 8, "low": -32768, "cut": 8}),
    Case("one bit, two values", "decode_latents",
         {"code": each("uint64", row(5)), "values": whole("int32", [[-40, 40], [-30, 31], [-20, 22]]),
          "x": zeros("int8", 1, 1, 1, 3)}, {"bits": 1, "low": -128, "cut": 7}),
    Case("8 of 16 bits: the middle of the step", "decode_latents",
         {"code": each("uint64", row(4, 0, 0, 0, 0, 0, 0, 6)), "values": None, "x": zeros("int16", 1, 1, 1, 3)},
         {"bits": 8, "low": -32768, "cut": 8}),
    Case("8 of 28 bits; the bias stays out", "dense_operand",
         {"weights": whole("int32", [[2**27, -(2**20), 2**30], [2**20 + 2**19, 0, 5]]),
          "operand": whole("int8", [[0, 0]] * 2),
          "exponent": whole("int32", [0])}, {"bits": 8}),
    Case("an empty head", "dense_operand",
         {"weights": whole("int32", [[0, 0, 9]]), "operand": whole("int8", [[0, 0]]), "exponent": whole("int32", [0])},
         {"bits": 8}),
    Case("two classes of three are active", "dense",
         {"x": each("int8", row(3, -4)), "operand": whole("int8", [[10, 20], [-10, 5], [1, 1]]),
          "exponent": whole("int32", [20]), "weights": whole("int32", [[0, 0, 2**28], [0, 0, -(2**11)], [0, 0, 0]]),
          "active": whole("uint8", [1, 1, 0]), "logits": zeros("int32", 1, 3)},
         {"x_zero": 1, "down": 0, "mantissa": UNIT, "shift": 48, "bias_shift": 12}),
    Case("two classes", "dense_input_grad",
         {"g": each("int8", [[64, -64]]), "e": each("int32", [-52]), "operand": whole("int8", [[10, 20], [-10, 5]]),
          "exponent": whole("int32", [20]), "gx": zeros("int8", 1, 1, 1, 2), "ex": zeros("int32", 1)},
         {"down": 0, "mantissa": UNIT, "shift": 48, "bits": 8}),
    Case("two samples; the bias reads 1", "dense_param_grad",
         {"g": each("int8", [[3, -3], [1, -1]]), "e": each("int32", [-50, -52]),
          "x": each("int8", [[[[5, 1]]], [[[0, 9]]]]),
          "gw": whole("int64", [[0, 0, 0], [0, 0, 0]]), "ge": whole("int32", [0])}, {"x_zero": 1, "bound": 15},
         {"samples": 2}),
    Case("one step", "dense_update",
         {"weights": whole("int32", [[0, 100, 0], [5, -5, 0]]),
          "gw": whole("int64", [[2**55, -(2**54), 2**50], [0, 1, -(2**50)]]),
          "ge": whole("int32", [-80])},
         {"mantissa": UNIT, "shift": -8, "bias_mantissa": UNIT, "bias_shift": -14, "number": 30}, ONE_STEP),
    Case("logits 1, 0 and one class that is not active", "cross_entropy",
         {"logits": each("int32", [[65536, 0, -(2**31)], [0, 65536, -(2**31)]]), "labels": each("int32", [0, 0]),
          "g": zeros("int8", 2, 3), "e": zeros("int32", 2), "p_label": zeros("int32", 2)}, {"bits": 8}, {"samples": 2}),
    Case("a sample that is known has no gradient", "cross_entropy",
         {"logits": each("int32", [[30 * 65536, 0]]), "labels": each("int32", [0]), "g": zeros("int16", 1, 2),
          "e": zeros("int32", 1), "p_label": zeros("int32", 1)}, {"bits": 16}),
]  # fmt: skip
