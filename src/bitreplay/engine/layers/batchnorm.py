"""BatchNorm with kept statistics, its scale and offset trained, and the shortcut added before the one rounding.

    y = gamma (x - mean) / sigma + beta [+ r]
    stored y = zero + round( (x a + b + (r - r_zero) r_factor) / 2^shift )
             = zero + round( ((x a + b) 2^up + (r - r_zero) r_factor) / 2^(shift + up) )     where shift < q_f

x are exact sums of a convolution (real scale per channel) or stored activations minus their zero. For each channel
    a = gamma factor,  factor = x_scale / (sigma y_scale) 2^shift       b = beta / y_scale 2^shift - a mean
are derived from the int32 masters gamma and beta after every update (`batchnorm_fold`). Gamma and beta learn:
    d gamma = factor (sum g x - mean sum g)          d beta = sum g / y_scale          g_x = g a,  g_r = g r_factor
The sums run over pixels per sample and over samples with their exponents, in int64, and are never rounded to q_b bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import (
    Multiplier,
    floor_log2,
    round_fraction,
    round_shift,
    saturate,
    wide,
)
from bitreplay.engine.arithmetic.quant import SIGNIFICANT, merge_samples, quantise_samples
from bitreplay.engine.arithmetic.sgd import descend, to_31_bits
from bitreplay.engine.builder import Builder, Gradient, Value
from bitreplay.engine.graph import Fixed, Node
from bitreplay.engine.kind import ACTIVATION, SUMS, Arrays, InvalidNodeError, Kind, Yield, per_channel
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation
from bitreplay.engine.program import ProgramError

OFFSET_LIMIT = (1 << 61) - 1
GROWTH_BITS = 4
LARGEST_FACTOR = (1 << 30) - 1
FINEST_POINT = 200
# A shortcut of 24 bits stays below 2^60, and so does a gradient of 23 bits times the factor.
LARGEST_RESIDUAL_FACTOR = (1 << 36) - 1


def fold(
    gamma: NDArray, beta: NDArray, mean: NDArray, factor: NDArray,
    *, a_shift: int, a_limit: int, mean_shift: int, beta_mantissa: int, beta_shift: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:  # fmt: skip
    """The operands a (int32) and b (int64) of the forward formula."""
    a = saturate(round_shift(wide(gamma) * wide(factor), a_shift), -a_limit, a_limit)
    offset = round_shift(wide(beta) * beta_mantissa, beta_shift) - round_shift(a * wide(mean), mean_shift)
    return a.astype(np.int32), saturate(offset, -OFFSET_LIMIT, OFFSET_LIMIT)


@operation("batchnorm_fold", code=20, reads="gamma beta mean factor", writes="a b",
           attributes="a_shift a_limit mean_shift beta_mantissa beta_shift")  # fmt: skip
def batchnorm_fold(t: Any, a: Any, run: Run) -> None:
    t.a[...], t.b[...] = fold(t.gamma, t.beta, t.mean, t.factor, **vars(a))


@operation("affine", code=21, reads="x a b residual?", writes="y saturated",
           attributes="x_zero shift y_zero low high residual_zero residual_factor")  # fmt: skip
def affine(t: Any, a: Any, run: Run) -> None:
    total = (wide(t.x) - a.x_zero) * wide(t.a) + t.b
    if t.residual is not None:
        total = total + (wide(t.residual) - a.residual_zero) * a.residual_factor
    y = round_shift(total, a.shift) + a.y_zero
    t.saturated[...] += np.count_nonzero((y < a.low) | (y > a.high))
    t.y[...] = saturate(y, a.low, a.high)


@operation("affine_fine", code=25, reads="x a b residual", writes="y saturated",
           attributes="x_zero shift y_zero low high residual_zero residual_factor up limit")  # fmt: skip
def affine_fine(t: Any, a: Any, run: Run) -> None:
    scaled = saturate((wide(t.x) - a.x_zero) * wide(t.a) + t.b, -a.limit, a.limit) << a.up
    y = round_shift(scaled + (wide(t.residual) - a.residual_zero) * a.residual_factor, a.shift) + a.y_zero
    t.saturated[...] += np.count_nonzero((y < a.low) | (y > a.high))
    t.y[...] = saturate(y, a.low, a.high)


@operation("affine_input_grad", code=22, reads="g e a", writes="gx ex", attributes="shift bits")
def affine_input_grad(t: Any, a: Any, run: Run) -> None:
    t.gx[...], t.ex[...] = quantise_samples(wide(t.g) * wide(t.a), wide(t.e) - a.shift, a.bits)


@operation("affine_param_grad", code=23, reads="g e x", writes="p q pe", attributes="x_zero bound", merges=True)
def affine_param_grad(t: Any, a: Any, run: Run) -> None:
    g = wide(t.g)
    products = (g * (wide(t.x) - a.x_zero)).sum(axis=(1, 2))
    t.p[...], exponent = merge_samples(products, wide(t.e), a.bound)
    t.q[...], _ = merge_samples(g.sum(axis=(1, 2)), wide(t.e), a.bound)
    t.pe[...] = exponent


@operation("batchnorm_update", code=24, reads="gamma beta p q pe mean factor", writes="gamma beta",
           attributes="mean_shift gamma_mantissa gamma_shift beta_mantissa beta_shift number")  # fmt: skip
def batchnorm_update(t: Any, a: Any, run: Run) -> None:
    exponent = int(t.pe[0])
    centred, down = to_31_bits((t.p << a.mean_shift) - wide(t.mean) * t.q)
    t.gamma[...] = descend(
        t.gamma,
        centred * wide(t.factor),
        exponent - a.mean_shift + down,
        a.gamma_mantissa,
        a.gamma_shift,
        run,
        a.number,
    )
    t.beta[...] = descend(t.beta, t.q, exponent, a.beta_mantissa, a.beta_shift, run, a.number + 1)


@dataclass(frozen=True)
class Constants:
    """The integer constants of one BatchNorm for one bit width."""

    shift: int
    factor: NDArray[np.int32]
    mean: NDArray[np.int32]
    attributes: dict[str, int]
    gamma_step: Multiplier
    beta_step: Multiplier


def constants(node_fixed: Callable[[str], Fixed], x: Value, y_scale: Fraction, r_scale: Fraction | None) -> Constants:
    """Choose binary points: a and b as fine as their bounds allow, with room for gamma to grow 2^GROWTH_BITS fold.

    A gamma near 0 would allow a very fine one: beta's multiplier and the shortcut's factor (r_scale) limit it.
    """
    gamma, beta, mean, inverse = (node_fixed(name) for name in ("gamma", "beta", "mean", "inverse_sigma"))
    channels = len(gamma.values)
    scales = x.channel_scales
    need(len(scales) == channels, f"{channels} channels of parameters for {len(scales)} of input")
    # Thousands of channels: integers, and one Fraction for all of them.
    inverses = [i * s for i, s in zip(_integers(inverse), scales.multiples, strict=True)]
    means = list(zip(_integers(mean), scales.multiples, strict=True))
    ratio, mean_ratio = scales.unit / y_scale * _power(-inverse.shift), _power(-mean.shift) / scales.unit
    a_bits = min(31, 60 - x.bound.bit_length())
    product = max(abs(g * i) for g, i in zip(_integers(gamma), inverses, strict=True)) * abs(ratio)
    largest = max(product * _power(-gamma.shift), Fraction(1, 1 << 30))
    shift = min(
        _point(largest, (1 << (a_bits - GROWTH_BITS)) - 1),
        _point(_power(-beta.shift) / y_scale, 1 << 30),
        *([] if r_scale is None else [_point(r_scale / y_scale, LARGEST_RESIDUAL_FACTOR)]),
    )
    factor_point = _point(max(map(abs, inverses)) * abs(ratio), LARGEST_FACTOR)
    # Where every gamma is 0 nothing else limits the point: a may not be finer than gamma times the factor.
    shift = min(shift, gamma.shift + factor_point)
    largest_mean = _largest(means) * abs(mean_ratio)
    mean_shift = min(12, _point(max(largest_mean, Fraction(1)), LARGEST_FACTOR))
    beta_multiplier = Multiplier.of(_power(shift - beta.shift) / y_scale)
    a_shift = gamma.shift + factor_point - shift
    if beta_multiplier.shift < 0 or mean_shift < 0:
        raise ProgramError("BatchNorm's mean or beta is too large for its range of activations")
    factor_unit, mean_unit = ratio * _power(factor_point), mean_ratio * _power(mean_shift)
    return Constants(
        shift,
        np.array(_times(inverses, [1] * channels, factor_unit), np.int32),
        np.array(_times(_integers(mean), scales.multiples, mean_unit), np.int32),
        {
            "a_shift": a_shift,
            "a_limit": (1 << a_bits) - 1,
            "mean_shift": mean_shift,
            "beta_mantissa": beta_multiplier.mantissa,
            "beta_shift": beta_multiplier.shift,
        },
        # d(stored y)/d(gamma) = factor 2^-factor_point (x - mean); one unit of gamma is 2^-gamma.shift.
        Multiplier.of(_power(gamma.shift - factor_point)),
        Multiplier.of(_power(beta.shift) / y_scale),
    )


def _integers(fixed: Fixed) -> list[int]:
    return fixed.values.reshape(-1).tolist()


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _largest(quotients: Sequence[tuple[int, int]]) -> Fraction:
    """The largest by its size."""
    numerator, denominator = 0, 1
    for top, bottom in quotients:
        if abs(top) * denominator > numerator * abs(bottom):
            numerator, denominator = abs(top), abs(bottom)
    return Fraction(numerator, denominator)


def _times(tops: Sequence[int], bottoms: Sequence[int], unit: Fraction) -> list[int]:
    """round(top / bottom * unit) of each, as divide_round; written out, since there are tens of thousands."""
    twice, under = 2 * unit.numerator, unit.denominator
    found = []
    for top, bottom in zip(tops, bottoms, strict=True):
        numerator, denominator = top * twice, bottom * under
        rounded = (abs(numerator) + abs(denominator)) // (2 * abs(denominator))
        found.append(rounded if (numerator >= 0) == (denominator > 0) else -rounded)
    return found


def _point(largest: Fraction, limit: int) -> int:
    """The finest binary point, up to FINEST_POINT, at which `largest` stays within `limit`."""
    return min(floor_log2(limit / largest), FINEST_POINT) if largest else FINEST_POINT


def _fine_bits(shift: int, x_bound: int, significant: int) -> int:
    """How many bits finer than x a the shortcut's factor must be: 0 unless its rounding would show in y."""
    if shift >= significant:
        return 0
    return max(min(significant + 2 - shift, 29 - x_bound.bit_length()), 0)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    if len({value.shape for value in inputs}) > 1:
        raise InvalidNodeError(f"adds maps of shapes {inputs[0].shape} and {inputs[1].shape}")
    names = ("gamma", "beta", "mean", "inverse_sigma")
    return per_channel(inputs[0], *names), Yield(ACTIVATION, inputs[0].shape)


class BatchNorm(Layer):
    """Reads sums or activations and, optionally, a shortcut (activations) to add; yields activations, needs a range.

    Arrays (Fixed, per channel): gamma, beta, mean, inverse_sigma. Attribute: learns (1); with 0 gamma and beta stay in
    a tail too, as for a node that only brings sums to activations.
    """

    kind = Kind(expected, ((ACTIVATION, SUMS), (ACTIVATION,)), optional=1, attributes={"learns": range(0, 2)})

    def trains(self, c: Builder) -> bool:
        return c.train_tail and self.number("learns", 1) == 1

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        x, residual = inputs[0], inputs[1] if len(inputs) > 1 else None
        name = self.node.name
        y = c.activation_value(name, x.shape)
        assert y.activation is not None
        r_scale = residual.activation.scale if residual is not None and residual.activation else None
        k = constants(self.fixed, x, y.activation.scale, r_scale)
        operands = self._operands(c, k)
        self._saturated = c.hold(c.buffer(f"{name}.saturated", np.int64, (1,), per_sample=False))
        tensors = {"x": x.tensor, "y": y.tensor, "saturated": self._saturated} | operands
        attributes = {"residual_zero": 0, "residual_factor": 0}
        up = 0
        if residual is not None:
            assert residual.activation is not None
            need(residual.shape == x.shape, f"{name}: adds maps of {x.shape} and {residual.shape}")
            tensors["residual"] = residual.tensor
            up = _fine_bits(k.shift, x.bound, SIGNIFICANT[c.bits.forward])
            ratio = residual.activation.scale / y.activation.scale
            attributes["residual_zero"] = residual.activation.zero
            attributes["residual_factor"] = round_fraction(ratio * Fraction(2) ** (k.shift + up))
            reach = residual.bound * attributes["residual_factor"]
            need(reach.bit_length() <= (61 if up else 60), f"{name}: the shortcut must fit 60 bits")
        if up:
            attributes |= {"up": up, "limit": OFFSET_LIMIT >> up}
        c.emit("forward", "affine_fine" if up else "affine", tensors, x_zero=x.activation.zero if x.activation else 0,
               shift=k.shift + up, y_zero=y.activation.zero, low=y.activation.low, high=y.activation.high,
               **attributes)  # fmt: skip
        self._constants, self._residual = k, (attributes["residual_factor"], k.shift + up)
        return y

    def _operands(self, c: Builder, k: Constants) -> dict[str, int]:
        name, gamma, beta = self.node.name, self.fixed("gamma"), self.fixed("beta")
        if not self.trains(c):
            a, b = fold(gamma.values, beta.values, k.mean, k.factor, **k.attributes)
            self._a = c.constant(f"{name}.a", a)
            return {"a": self._a, "b": c.constant(f"{name}.b", b)}
        channels = (len(k.mean),)
        operands = {
            "a": c.hold(c.buffer(f"{name}.a", np.int32, channels, per_sample=False)),
            "b": c.hold(c.buffer(f"{name}.b", np.int64, channels, per_sample=False)),
        }
        self._learned = {
            "gamma": c.parameter(f"{name}.gamma", gamma.values),
            "beta": c.parameter(f"{name}.beta", beta.values),
        }
        self._kept = {"mean": c.constant(f"{name}.mean", k.mean), "factor": c.constant(f"{name}.factor", k.factor)}
        c.emit("prepare", "batchnorm_fold", self._learned | self._kept | operands, **k.attributes)
        self._a = operands["a"]
        return operands

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        name, x, k = self.node.name, inputs[0], self._constants
        gradient = c.stored_gradient(name)
        if gradient is None:
            return
        stored = {"g": gradient.tensor, "e": gradient.exponents}
        if self.trains(c):
            self._param_grad(c, x, gradient)
        if self.node.inputs[0] in c.needs_gradient:
            result = c.gradient_buffers(self.node.inputs[0], x.shape)
            c.emit("backward", "affine_input_grad",
                   stored | {"a": self._a, "gx": result.tensor, "ex": result.exponents},
                   shift=k.shift, bits=c.bits.backward_other)  # fmt: skip
            c.contribute(self.node.inputs[0], result)
        if len(inputs) > 1 and self.node.inputs[1] in c.needs_gradient:
            c.contribute(
                self.node.inputs[1],
                Gradient(gradient.tensor, gradient.exponents, gradient.bound, *self._residual),
            )

    def _param_grad(self, c: Builder, x: Value, gradient: Gradient) -> None:
        name, k, channels = self.node.name, self._constants, (x.shape[2],)
        sums = {
            "p": c.buffer(f"{name}.p", np.int64, channels, per_sample=False),
            "q": c.buffer(f"{name}.q", np.int64, channels, per_sample=False),
            "pe": c.buffer(f"{name}.pe", np.int32, (1,), per_sample=False),
        }
        pixels, mean_shift = x.shape[0] * x.shape[1], k.attributes["mean_shift"]
        need(gradient.bound + (x.bound * pixels).bit_length() <= 62, f"{name}: sums must fit 62 bits")
        # The merged sums leave room for 2^mean_shift and one subtraction, also where a mean lies outside the sums.
        largest = max(x.bound, int(np.abs(wide(k.mean)).max() >> mean_shift) + 1)
        bound = gradient.bound + (largest * pixels).bit_length() + mean_shift + 1
        c.emit("backward", "affine_param_grad",
               {"g": gradient.tensor, "e": gradient.exponents, "x": x.tensor} | sums,
               x_zero=x.activation.zero if x.activation else 0, bound=bound)  # fmt: skip
        c.emit("update", "batchnorm_update", self._learned | sums | self._kept,
               mean_shift=mean_shift, gamma_mantissa=k.gamma_step.mantissa,
               gamma_shift=k.gamma_step.shift, beta_mantissa=k.beta_step.mantissa, beta_shift=k.beta_step.shift,
               number=self._learned["gamma"])  # fmt: skip
