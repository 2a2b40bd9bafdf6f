"""Inputs of the vector files of sections 1 to 14: {file: [(name, function, inputs)]}. Ties and ends first."""

from __future__ import annotations

from typing import Any

from tests.engine.law.vectors.projection import PROJECTION
from tests.engine.law.vectors.sums import SUMS

BIG = 2**62 - 1
NONE = -(2**20)
RATE = [1374389535, 37]  # 1/100
Inputs = dict[str, Any]
SECTIONS: dict[str, list[tuple[str, str, Inputs]]] = {
    "rounding": [
        ("ties go away from zero", "round_shift", {"x": [5, 6, 7, -5, -6, -7, 2, -2, 1, -1], "shift": 2}),
        ("halves", "round_shift", {"x": [1, -1, 3, -3, 0], "shift": 1}),
        ("a negative shift is exact", "round_shift", {"x": [3, -3, 1, -1], "shift": [-4, -4, -61, -62]}),
        ("the ends", "round_shift", {"x": [BIG, -BIG, BIG, -BIG, BIG], "shift": [62, 62, 61, 1, 63]}),
        ("no shift", "round_shift", {"x": [BIG, -BIG, 0], "shift": 0}),
        ("quarters up and down", "stochastic_shift", {"x": [5, 5, -5, -5], "shift": 2,
                                                      "random": [0, 2**32 - 1, 0, 2**32 - 1]}),
        ("the threshold of 5/4", "stochastic_shift", {"x": [5, 5], "shift": 2, "random": [3 * 2**30 - 1, 3 * 2**30]}),
        ("more than 32 bits", "stochastic_shift", {"x": [2**39, -(2**39)], "shift": 40, "random": 2**31}),
        ("beyond 62 bits", "stochastic_shift", {"x": [BIG, -BIG, -1], "shift": [64, 64, 200],
         "random": [2**31, 2**31, 0]}),
        ("to the left", "stochastic_shift", {"x": [3, -3], "shift": -2, "random": 2**32 - 1}),
        ("limits are kept", "saturate", {"x": [-129, -128, 0, 127, 128], "low": -128, "high": 127}),
        ("quotients", "divide_round", {"a": [7, -7, 6, -6, 5, 0], "b": [2, 2, 4, 4, 3, 9]}),
    ],
    "multiplier": [
        ("three quarters", "multiplier", {"value": [3, 4]}),
        ("one third", "multiplier", {"value": [1, 3]}),
        ("negative", "multiplier", {"value": [-1, 3]}),
        ("large", "multiplier", {"value": [10**12, 7]}),
        ("nothing", "multiplier", {"value": [0, 1]}),
        ("rounding that needs one bit more", "multiplier", {"value": [2**32 - 1, 2**32]}),
        ("a third of 9, 10 and 11", "times", {"x": [9, 10, 11, -10], "mantissa": 1431655765, "shift": 32}),
        ("ties", "times", {"x": [2, -2, 6], "mantissa": 2**30, "shift": 32}),
        ("the largest operand", "times", {"x": [2**31, -(2**31)], "mantissa": 2**31 - 1, "shift": 31}),
    ],
    "bits": [
        ("least significant first", "pack", {"ones": [1, 0, 1, 1]}),
        ("a second word", "pack", {"ones": [0] * 63 + [1, 1]}),
        ("a whole word", "pack", {"ones": [1] * 64}),
        ("four channels", "dot", {"x": [13], "w": [11], "channels": 4}),
        ("padding does not count", "dot", {"x": [1, 0], "w": [1, 0], "channels": 65}),
    ],
    "generator": [
        ("all zero", "key", {"seed": 0, "step": 0, "tensor": 0}),
        ("a step", "key", {"seed": 1, "step": 2, "tensor": 3}),
        ("a negative seed is taken modulo 2^64", "key", {"seed": -1, "step": 0, "tensor": 0}),
        ("a few elements", "random_bits", {"key": 0x0123456789ABCDEF, "elements": [0, 1, 2, 2**32 - 1]}),
        ("key 0", "random_bits", {"key": 0, "elements": [0, 1]}),
    ],
    "activations": [
        ("symmetric", "activation", {"low": [-4, 1], "high": [4, 1], "bits": 8}),
        ("never negative", "activation", {"low": [0, 1], "high": [6, 1], "bits": 8}),
        ("0 is taken into the range", "activation", {"low": [1, 1], "high": [3, 1], "bits": 8}),
        ("an empty range", "activation", {"low": [0, 1], "high": [0, 1], "bits": 8}),
        ("16 bits", "activation", {"low": [-1, 2], "high": [5, 2], "bits": 16}),
        ("32 bits hold 24", "activation", {"low": [-4, 1], "high": [4, 1], "bits": 32}),
    ],
    "gradients": [
        ("fits", "quantise_samples", {"values": [[127, -3]], "exponents": [-10], "bits": 8}),
        ("one bit too many", "quantise_samples", {"values": [[128, -3]], "exponents": [-10], "bits": 8}),
        ("rounding that needs one bit more", "quantise_samples", {"values": [[255, -254, 2]], "exponents": [0],
         "bits": 8}),
        ("samples have their own exponents", "quantise_samples",
         {"values": [[1000, 500], [3, -1], [0, 0]], "exponents": [-20, -20, -20], "bits": 8}),
        ("16 bits", "quantise_samples", {"values": [[BIG, -BIG, 2**46]], "exponents": [-60], "bits": 16}),
        ("32 bits hold 24", "quantise_samples", {"values": [[BIG, 2**38 + 1, -(2**38) - 1]], "exponents": [-60],
         "bits": 32}),
        ("two terms", "align", {"terms": [[[[3, -5]], [-10], 7], [[[100, 1]], [-80], 7]]}),
        ("a term without gradient", "align", {"terms": [[[[3], [0]], [-10, NONE], 7], [[[0], [0]], [NONE, NONE], 7]]}),
        ("three samples", "merge_samples", {"sums": [[5, -7], [1, 1], [0, 0]], "exponents": [-10, -20, NONE],
         "bound": 8}),
        ("no sample", "merge_samples", {"sums": [[0], [0]], "exponents": [NONE, NONE], "bound": 8}),
        ("a term far below", "merge_samples", {"sums": [[255], [255]], "exponents": [0, -100], "bound": 8}),
    ],
    "loss": [
        ("e^0, e^-1, e^-2, e^-10, e^-20", "exp_minus", {"t": [0, 65536, 131072, 655360, 1310720]}),
        ("the ends", "exp_minus", {"t": [1, 40 * 65536, 40 * 65536 + 1, 2**32]}),
    ],
    "batchnorm": [
        ("a binary convolution of 64 channels, y of 8 bits in [-4, 4]", "batchnorm_constants",
         {"numbers": {"gamma": [[2**28, 2**27], 28], "beta": [[0, 2**26], 28], "mean": [[3, -2], 4],
                      "inverse_sigma": [[1, 1], 0]},
          "x_scales": [[1, 16], [1, 32]], "x_bound": 576, "y_scale": [8, 255], "r_scale": [8, 255]}),
        ("gamma 0: beta and the shortcut set the point", "batchnorm_constants",
         {"numbers": {"gamma": [[0], 28], "beta": [[2**27], 28], "mean": [[0], 0], "inverse_sigma": [[1], 0]},
          "x_scales": [[1, 16]], "x_bound": 576, "y_scale": [8, 255], "r_scale": [16, 255]}),
        ("24 bits, no shortcut", "batchnorm_constants",
         {"numbers": {"gamma": [[2**28], 28], "beta": [[-(2**27)], 28], "mean": [[5], 1], "inverse_sigma": [[3], 1]},
          "x_scales": [[1, 1000]], "x_bound": 2**31 - 1, "y_scale": [8, 2**24 - 1], "r_scale": None}),
    ],
    "update": [
        ("2^44 / 100 / 160", "step_multiplier", {"constant": [2**30, -14], "rate": RATE, "samples": 160}),
        ("one sample", "step_multiplier", {"constant": [2**31 - 1, 3], "rate": [2**31 - 1, 31], "samples": 1}),
        ("many steps of half a unit", "descend", {"master": 0, "gradient": 1, "exponent": -1, "constant": [2**30, 30],
         "rate": [2**30, 30], "samples": 1, "seed": 5, "step": 0, "tensor": 0, "element": 0}),
        ("the next step", "descend", {"master": 0, "gradient": 1, "exponent": -1, "constant": [2**30, 30],
         "rate": [2**30, 30], "samples": 1, "seed": 5, "step": 1, "tensor": 0, "element": 0}),
        ("a whole number of units", "descend", {"master": 1000, "gradient": 7, "exponent": 2, "constant": [2**30, 30],
         "rate": [2**30, 30], "samples": 1, "seed": 5, "step": 0, "tensor": 0, "element": 3}),
        ("more than 31 bits", "descend", {"master": -5, "gradient": -BIG, "exponent": -50, "constant": [2**31 - 1, 31],
         "rate": RATE, "samples": 32, "seed": 1, "step": 2, "tensor": 3, "element": 4}),
        ("saturated", "descend", {"master": 2**31 - 1, "gradient": -1, "exponent": 40, "constant": [2**30, 30],
         "rate": [2**30, 30], "samples": 1, "seed": 0, "step": 0, "tensor": 0, "element": 0}),
        ("no gradient", "descend", {"master": 77, "gradient": 0, "exponent": NONE, "constant": [2**30, -14],
         "rate": RATE, "samples": 32, "seed": 9, "step": 9, "tensor": 9, "element": 9}),
    ],
    "method": [
        ("first experience", "consolidate", {"cw": [[0, 0], [0, 0], [0, 0]], "tw": [[10, 4], [-6, 0], [99, 99]],
                                             "past": [0, 0, 0], "present": [5, 5, 0]}),
        ("as many before as now", "consolidate", {"cw": [[100, -51], [7, 7]], "tw": [[10, 4], [0, 0]], "past": [9, 3],
                                                  "present": [9, 0]}),
        ("four times as many before", "consolidate", {"cw": [[300, -300], [1, 2]], "tw": [[30, -30], [0, 3]],
                                                      "past": [36, 0], "present": [9, 9]}),
        ("an irrational root", "consolidate", {"cw": [[2**31 - 1, 1 - 2**31]], "tw": [[2**31 - 1, 0]], "past": [2],
                                               "present": [1]}),
        ("three slots a class", "reservoir", {"per_class": 3, "seed": 1,
         "experiences": [[0, 0, 0, 0, 1, 1], [1, 1, 1, 0, 0],
                                              [2, 0, 2, 1]], "draws": [2, 7, 8, 20]}),
        ("no room", "reservoir", {"per_class": 0, "seed": 1, "experiences": [[0, 1]], "draws": []}),
        ("five of ten", "minibatches", {"samples": 10, "size": 5, "seed": 0, "experience": 0, "epoch": 0}),
        ("the last one is short", "minibatches", {"samples": 7, "size": 3, "seed": 3, "experience": 2, "epoch": 4}),
    ],
    "level_code": [
        ("threshold 0 and +-3/4", "level_stored", {"values": [[0], [-3], [3]], "shift": 2, "low": [-1, 1],
         "high": [1, 1],
                                                   "bits": 8}),
        ("outside the range", "level_stored", {"values": [[-900, 900]], "shift": 4, "low": [0, 1], "high": [6, 1],
         "bits": 16}),
    ],
    "program": [
        ("one record over three tensors", "program_bytes", {
            "max_samples": 2, "arena_bytes": 192, "scratch_offset": 128,
            "tensors": [["x", 2, 0, 1, [1, 1, 2], 0], ["bits", 2, 6, 1, [1, 1, 1], 64], ["gamma", 1, 2, 0, [2], 0]],
            "records": [[10, 1, [0, 1], [-1]]], "parameters": [0, 0, 0, 16, 255, 255, 255, 255], "constants": [0] * 8}),
    ],
    **SUMS,
    **PROJECTION,
}  # fmt: skip
