"""What the vector files of sections 1 to 13 call: for each name, the oracle and the code under test.

Both take the case's inputs as JSON holds them (lists, integers; a fraction is [numerator, denominator]) and return
the expected value in the same form.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic import counter, fixedpoint, packing, quant, sgd
from bitreplay.engine.arithmetic.softmax import exp_minus
from bitreplay.engine.graph import Fixed
from bitreplay.engine.layers.latent_code import _stored
from bitreplay.engine.layers.latent_weights import by_scale
from bitreplay.engine.operations import Run
from tests.engine.law import method, numbers, projection_functions, sums_functions
from tests.engine.law.batchnorm_constants import constants, expected_constants
from tests.engine.law.method_functions import consolidate, expected_reservoir, minibatches, rate, reservoir
from tests.engine.law.oracles import head as oracle_head
from tests.engine.law.oracles import ood as oracle_unseen
from tests.engine.law.oracles import pictures as oracle_pictures
from tests.engine.law.oracles import sums as oracle_sums
from tests.engine.law.program_bytes import expected_bytes, program_bytes

Oracle = Callable[..., Any]
Tested = Callable[..., Any]


def int64(x: Any) -> np.ndarray:
    return np.array(x, np.int64)


def activation(low: list[int], high: list[int], bits: int) -> Any:
    found = quant.Activation.of_range(Fraction(*low), Fraction(*high), bits)
    return [[found.scale.numerator, found.scale.denominator], found.zero]


def expected_activation(low: list[int], high: list[int], bits: int) -> Any:
    scale, zero = numbers.activation(Fraction(*low), Fraction(*high), bits)
    return [[scale.numerator, scale.denominator], zero]


def quantise_samples(values: Any, exponents: Any, bits: int) -> Any:
    stored, new = quant.quantise_samples(int64(values), int64(exponents), bits)
    return [stored.tolist(), new.tolist()]


def expected_quantise(values: Any, exponents: Any, bits: int) -> Any:
    parts = [numbers.quantise(row, exponent, bits) for row, exponent in zip(values, exponents, strict=True)]
    return [[row for row, _ in parts], [exponent for _, exponent in parts]]


def align(terms: Any) -> Any:
    """Each term: values and exponents over the samples, and one bound."""
    aligned, exponents = quant.align([(int64(v), int64(e), b) for v, e, b in terms])
    return [[part.tolist() for part in aligned], exponents.tolist()]


def expected_align(terms: Any) -> Any:
    samples = [numbers.align([(v[n], e[n], b) for v, e, b in terms]) for n in range(len(terms[0][0]))]
    return [[[parts[i] for parts, _ in samples] for i in range(len(terms))], [exponent for _, exponent in samples]]


def merge_samples(sums: Any, exponents: Any, bound: int) -> Any:
    total, exponent = quant.merge_samples(int64(sums), int64(exponents), bound)
    return [total.tolist(), int(exponent)]


def descend(master: int, gradient: int, exponent: int, constant: Any, rate: Any, samples: int, seed: int, step: int,
            tensor: int, element: int) -> int:  # fmt: skip
    """One element of a tensor whose other masters are 0."""
    masters, gradients = np.zeros(element + 1, np.int32), np.zeros(element + 1, np.int64)
    masters[element], gradients[element] = master, gradient
    run = Run(samples, seed, step, rate[0], rate[1])
    return int(sgd.descend(masters, gradients, exponent, constant[0], constant[1], run, tensor)[element])


def expected_descend(master: int, gradient: int, exponent: int, constant: Any, rate: Any, samples: int, seed: int,
                     step: int, tensor: int, element: int) -> int:  # fmt: skip
    random = numbers.random_bits(numbers.key(seed, step, tensor), element)
    return numbers.descend(
        master, gradient, exponent, numbers.step_multiplier(constant[0], constant[1], rate, samples), random
    )


def stored_latents(values: Any, shift: int, low: list[int], high: list[int], bits: int) -> Any:
    spec = quant.Activation.of_range(Fraction(*low), Fraction(*high), bits)
    return _stored(Fixed(np.array(values, np.int32), shift), spec, np.dtype(np.int32)).tolist()


def expected_stored_latents(values: Any, shift: int, low: list[int], high: list[int], bits: int) -> Any:
    scale, zero = numbers.activation(Fraction(*low), Fraction(*high), bits)
    limit = 2 ** (numbers.SIGNIFICANT[bits] - 1)
    real = [[Fraction(v) / 2**shift for v in row] for row in values]
    return [[numbers.saturate(numbers.nearest(r / scale) + zero, -limit, limit - 1) for r in row] for row in real]


def each(function: Callable[..., int]) -> Oracle:
    """A scalar oracle over lists of the same length; a single integer is used for all."""

    def over(**inputs: Any) -> list[int]:
        length = max(len(v) for v in inputs.values() if isinstance(v, list))
        rows = {k: v if isinstance(v, list) else [v] * length for k, v in inputs.items()}
        return [function(**{k: v[i] for k, v in rows.items()}) for i in range(length)]

    return over


FUNCTIONS: dict[str, tuple[Oracle, Tested]] = {
    "round_shift": (
        each(numbers.round_shift),
        lambda x, shift: fixedpoint.round_shift(int64(x), int64(shift)).tolist(),
    ),
    "stochastic_shift": (
        each(numbers.stochastic_shift),
        lambda x, shift, random: fixedpoint.stochastic_shift(
            int64(x), int64(shift), np.array(random, np.uint32)
        ).tolist(),
    ),
    "saturate": (each(numbers.saturate), lambda x, low, high: fixedpoint.saturate(int64(x), low, high).tolist()),
    "divide_round": (
        lambda a, b: [numbers.nearest(Fraction(p, q)) for p, q in zip(a, b, strict=True)],
        lambda a, b: [fixedpoint.divide_round(p, q) for p, q in zip(a, b, strict=True)],
    ),
    "multiplier": (
        lambda value: list(numbers.multiplier(Fraction(*value))),
        lambda value: [(m := fixedpoint.Multiplier.of(Fraction(*value))).mantissa, m.shift],
    ),
    "times": (
        lambda x, mantissa, shift: [numbers.round_shift(v * mantissa, shift) for v in x],
        lambda x, mantissa, shift: fixedpoint.Multiplier(mantissa, shift).times(int64(x)).tolist(),
    ),
    "pack": (lambda ones: numbers.pack(ones), lambda ones: packing.pack(np.array(ones)).tolist()),
    "dot": (
        lambda x, w, channels: sum(
            (2 * p - 1) * (2 * q - 1)
            for p, q in zip(numbers.unpack(x, channels), numbers.unpack(w, channels), strict=True)
        ),
        lambda x, w, channels: int(
            channels - 2 * np.bitwise_count(np.array(x, np.uint64) ^ np.array(w, np.uint64)).astype(np.int64).sum()
        ),
    ),
    "key": (numbers.key, counter.key),
    "random_bits": (
        lambda key, elements: [numbers.random_bits(key, e) for e in elements],
        lambda key, elements: counter.random_bits(key, np.array(elements, np.uint32)).tolist(),
    ),
    "activation": (expected_activation, activation),
    "quantise_samples": (expected_quantise, quantise_samples),
    "align": (expected_align, align),
    "merge_samples": (
        lambda sums, exponents, bound: list(numbers.merge(sums, exponents, bound)),
        merge_samples,
    ),
    "exp_minus": (
        lambda t: [oracle_head.exp_minus(v) for v in t],
        lambda t: exp_minus(int64(t)).tolist(),
    ),
    "step_multiplier": (
        lambda constant, rate, samples: list(numbers.step_multiplier(constant[0], constant[1], rate, samples)),
        lambda constant, rate, samples: list(
            sgd.step_multiplier(constant[0], constant[1], Run(samples, 0, 0, rate[0], rate[1]))
        ),
    ),
    "descend": (expected_descend, descend),
    "latent_distances": (
        numbers.latent_distances,
        lambda start, most, scale: by_scale(start, most, int64(scale)).tolist(),
    ),
    "consolidate": (lambda cw, tw, past, present: list(method.consolidate(cw, tw, past, present)), consolidate),
    "reservoir": (expected_reservoir, reservoir),
    "minibatches": (method.minibatches, minibatches),
    "rate": (method.rate, rate),
    "batchnorm_constants": (expected_constants, constants),
    "stored_latents": (expected_stored_latents, stored_latents),
    "program_bytes": (expected_bytes, program_bytes),
    "add_pictures": (sums_functions.expected_sums, sums_functions.add_pictures),
    "discriminant_of": (sums_functions.expected_discriminant, sums_functions.discriminant_of),
    "lambda_of": (sums_functions.expected_lambda, sums_functions.lambda_of),
    "answering_of": (sums_functions.expected_answering, sums_functions.answering_of),
    "forget_class": (lambda sums, row: list(oracle_sums.forget(sums, row)), sums_functions.forget_class),
    "merge_since": (
        lambda ours, theirs, base: list(oracle_sums.merge_since(ours, theirs, base)),
        sums_functions.merge_since,
    ),
    "fit": (oracle_pictures.fit, sums_functions.fit),
    "scores": (oracle_sums.scores, sums_functions.scores),
    "roots": (lambda x: [projection_functions.root(v) for v in x], projection_functions.roots),
    "project": (projection_functions.expected_projection, projection_functions.project),
    "unseen_of": (oracle_unseen.ood, sums_functions.unseen_of),
}
