"""Concatenation along channels of activations with different scales: activations -> activations.

    stored y = y_zero + round((x - x_zero) m / 2^s),  m / 2^s = x_scale / y_scale        for the channels of each input
    g_x = g m 2^-s                                                                       of those channels

One record per input. A sample's gradient gets a new exponent in each part.
"""

from __future__ import annotations

from typing import Any

from bitreplay.engine.arithmetic.fixedpoint import Multiplier, round_shift, saturate, wide
from bitreplay.engine.arithmetic.quant import quantise_samples
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import ACTIVATION, Arrays, InvalidNodeError, Kind, Yield
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation


@operation("concat", code=150, reads="x y", writes="y", attributes="first x_zero mantissa shift y_zero low high")
def concat(t: Any, a: Any, run: Run) -> None:
    y = round_shift((wide(t.x) - a.x_zero) * a.mantissa, a.shift) + a.y_zero
    t.y[..., a.first : a.first + t.x.shape[-1]] = saturate(y, a.low, a.high)


@operation("concat_input_grad", code=151, reads="g e", writes="gx ex", attributes="first mantissa shift bits")
def concat_input_grad(t: Any, a: Any, run: Run) -> None:
    part = wide(t.g)[..., a.first : a.first + t.gx.shape[-1]]
    t.gx[...], t.ex[...] = quantise_samples(part * a.mantissa, wide(t.e) - a.shift, a.bits)


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    height, width, _ = inputs[0].shape
    if any(value.shape[:2] != (height, width) for value in inputs):
        raise InvalidNodeError("joins maps of different sizes")
    return {}, Yield(ACTIVATION, (height, width, sum(value.channels for value in inputs)))


class Concat(Layer):
    """Reads two or more activations of one height and width, yields activations; needs a range."""

    kind = Kind(expected, ((ACTIVATION,),) * 8, optional=6)

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        name, (height, width, _) = self.node.name, inputs[0].shape
        need(all(x.shape[:2] == (height, width) for x in inputs), f"{name}: maps differ in size")
        y = c.activation_value(name, (height, width, sum(x.shape[2] for x in inputs)))
        assert y.activation is not None
        first, self._parts = 0, []
        for x in inputs:
            assert x.activation is not None, f"{name} reads activations"
            multiplier = Multiplier.of(x.activation.scale / y.activation.scale)
            part = {"first": first, "mantissa": multiplier.mantissa, "shift": multiplier.shift}
            c.emit("forward", "concat", {"x": x.tensor, "y": y.tensor}, x_zero=x.activation.zero,
                   y_zero=y.activation.zero, low=y.activation.low, high=y.activation.high, **part)  # fmt: skip
            self._parts.append(part)
            first += x.shape[2]
        return y

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        gradient = c.stored_gradient(self.node.name)
        if gradient is None:
            return
        need(gradient.bound + 31 <= 62, f"{self.node.name}: products must fit 62 bits")
        for source, x, part in zip(self.node.inputs, inputs, self._parts, strict=True):
            if source in c.needs_gradient:
                result = c.gradient_buffers(source, x.shape)
                c.emit("backward", "concat_input_grad",
                       {"g": gradient.tensor, "e": gradient.exponents, "gx": result.tensor, "ex": result.exponents},
                       bits=c.bits.backward_other, **part)  # fmt: skip
                c.contribute(source, result)
