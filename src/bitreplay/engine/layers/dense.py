"""Dense head: activations -> logits. The bias is one more weight.

    operand      w = round(master / 2^k), the least k that holds the largest in q_f bits        (after every update)
    forward      logit = round( sum (x - x_zero) w * m 2^(k - s) ) + bias,  16 bits behind the point, int32
    backward     g_x = sum over classes of g w * m 2^(k - s)       d W = sum g (x - x_zero)       d bias = sum g

m 2^-s is x_scale 2^(16 - master's point). Classes that are not active get the lowest logit and no gradient.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import Multiplier, round_shift, saturate, wide
from bitreplay.engine.arithmetic.quant import SIGNIFICANT, STORAGE, merged_exponent, quantise_samples
from bitreplay.engine.arithmetic.sgd import descend
from bitreplay.engine.arithmetic.softmax import HIGHEST_LOGIT, LOGIT_POINT, LOWEST_LOGIT
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import ACTIVATION, LOGITS, REAL, SIGNS, Arrays, Kind, Yield, dimensions
from bitreplay.engine.layers.clipped_sign import emit_numbers
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation

MASTER_POINT = 28


@operation("dense_operand", code=80, reads="weights", writes="operand exponent", attributes="bits")
def dense_operand(t: Any, a: Any, run: Run) -> None:
    stored, exponents = quantise_samples(wide(t.weights)[None, :, :-1], np.zeros(1, np.int64), a.bits)
    t.operand[...] = stored[0]
    t.exponent[...] = max(int(exponents[0]), 0)


@operation("dense", code=81, reads="x operand exponent weights active", writes="logits",
           attributes="x_zero down mantissa shift bias_shift")  # fmt: skip
def dense(t: Any, a: Any, run: Run) -> None:
    x = wide(t.x).reshape(run.samples, -1) - a.x_zero
    sums = round_shift(x @ wide(t.operand).T, a.down)
    logits = round_shift(sums * a.mantissa, a.shift - a.down - int(t.exponent[0]))
    logits = logits + round_shift(wide(t.weights)[:, -1], a.bias_shift)
    logits = saturate(logits, LOWEST_LOGIT + 1, HIGHEST_LOGIT)
    t.logits[...] = np.where(t.active > 0, logits, LOWEST_LOGIT)


@operation("dense_input_grad", code=82, reads="g e operand exponent", writes="gx ex",
           attributes="down mantissa shift bits")  # fmt: skip
def dense_input_grad(t: Any, a: Any, run: Run) -> None:
    sums = round_shift(wide(t.g) @ wide(t.operand), a.down) * a.mantissa
    exponents = wide(t.e) + (int(t.exponent[0]) + a.down - a.shift)
    stored, t.ex[...] = quantise_samples(sums, exponents, a.bits)
    t.gx[...] = stored.reshape(t.gx.shape)


@operation("dense_param_grad", code=83, reads="g e x", writes="gw ge", attributes="x_zero bound", merges=True)
def dense_param_grad(t: Any, a: Any, run: Run) -> None:
    x = wide(t.x).reshape(run.samples, -1) - a.x_zero
    common, live = merged_exponent(wide(t.e), a.bound)
    t.gw[...], t.ge[...] = 0, common
    for n in live:
        # The bias reads 1.
        products = wide(t.g[n])[:, None] * np.append(x[n], 1)
        t.gw[...] += round_shift(products, common - int(t.e[n]))


@operation("dense_update", code=84, reads="weights gw ge", writes="weights",
           attributes="mantissa shift bias_mantissa bias_shift number")  # fmt: skip
def dense_update(t: Any, a: Any, run: Run) -> None:
    exponent = int(t.ge[0])
    moved = descend(t.weights, t.gw, exponent, a.mantissa, a.shift, run, a.number)
    biases = descend(t.weights, t.gw, exponent, a.bias_mantissa, a.bias_shift, run, a.number)
    t.weights[:, :-1] = moved[:, :-1]
    t.weights[:, -1] = biases[:, -1]


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    classes, _ = dimensions(node, "weights", 2)
    features = math.prod(inputs[0].shape)
    return {"weights": (REAL, (classes, features)), "bias": (REAL, (classes,))}, Yield(LOGITS, (1, 1, classes))


class Dense(Layer):
    """Reads activations of any shape, flattened channels last, or signs; yields logits. It always learns.

    Arrays: weights (classes, features) and bias (classes), Fixed; or attribute `classes` for a head of zeros.
    """

    kind = Kind(expected, ((ACTIVATION, SIGNS),))

    def trains(self, c: Builder) -> bool:
        return True

    def _master(self, features: int) -> np.ndarray:
        """int32 (classes, features + 1), point MASTER_POINT, the bias last."""
        if "weights" not in self.node.arrays:
            return np.zeros((self.number("classes"), features + 1), np.int32)
        columns = [self.fixed("weights"), self.fixed("bias")]
        parts = [round_shift(wide(f.values).reshape(len(f.values), -1), f.shift - MASTER_POINT) for f in columns]
        return saturate(np.concatenate(parts, axis=1), LOWEST_LOGIT + 1, HIGHEST_LOGIT).astype(np.int32)

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        if x.activation is None:
            x = emit_numbers(c, x, f"{self.node.name}.x", "forward")
        assert x.activation is not None
        name, features, width = self.node.name, int(np.prod(x.shape)), SIGNIFICANT[c.bits.forward] - 1
        master = self._master(features)
        classes = len(master)
        self._weights = c.parameter(f"{name}.weights", master)
        active = c.parameter(f"{name}.active", np.ones(classes, np.uint8))
        self._operand = {
            "operand": c.hold(c.buffer(f"{name}.operand", STORAGE[c.bits.forward], (classes, features), False)),
            "exponent": c.hold(c.buffer(f"{name}.exponent", np.int32, (1,), False)),
        }
        c.emit("prepare", "dense_operand", {"weights": self._weights} | self._operand, bits=c.bits.forward)
        logits = c.hold(c.buffer("logits", np.int32, (classes,)))
        self._scale = Multiplier.of(x.activation.scale * Fraction(2) ** (LOGIT_POINT - MASTER_POINT))
        self._sum_bound = (x.bound * features).bit_length() + width
        need(self._sum_bound <= 62, f"{name}: sums must fit 62 bits")
        c.emit("forward", "dense",
               {"x": x.tensor, "weights": self._weights, "active": active, "logits": logits} | self._operand,
               x_zero=x.activation.zero, down=max(self._sum_bound - 31, 0), mantissa=self._scale.mantissa,
               shift=self._scale.shift, bias_shift=MASTER_POINT - LOGIT_POINT)  # fmt: skip
        self._active, self._classes, self._features = active, classes, features
        return Value(logits, (1, 1, classes), 1 << 31)

    @property
    def active(self) -> int:
        return self._active

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        (x,), (source,) = inputs, self.node.inputs
        name, bits = self.node.name, c.bits.backward_other
        gradient = c.stored_gradient(name)
        if x.activation is None:
            # Made anew, so that only the packed signs live until here.
            x = emit_numbers(c, x, f"{name}.again", "backward")
        assert gradient is not None and x.activation is not None
        stored = {"g": gradient.tensor, "e": gradient.exponents}
        sums = {
            "gw": c.buffer(f"{name}.gw", np.int64, (self._classes, self._features + 1), False),
            "ge": c.buffer(f"{name}.ge", np.int32, (1,), False),
        }
        c.emit("backward", "dense_param_grad", stored | {"x": x.tensor} | sums, x_zero=x.activation.zero,
               bound=gradient.bound + x.bound.bit_length())  # fmt: skip
        # d(logit)/d(master) = (x - x_zero) x_scale 2^(16 - 28); the step is taken in units of the master.
        step = Multiplier.of(x.activation.scale * Fraction(2) ** (LOGIT_POINT + MASTER_POINT))
        bias_step = Multiplier.of(Fraction(2) ** (LOGIT_POINT + MASTER_POINT))
        c.emit("update", "dense_update", {"weights": self._weights} | sums, mantissa=step.mantissa, shift=step.shift,
               bias_mantissa=bias_step.mantissa, bias_shift=bias_step.shift, number=self._weights)  # fmt: skip
        if source in c.needs_gradient:
            result = c.gradient_buffers(source, x.shape)
            bound = gradient.bound + SIGNIFICANT[c.bits.forward] - 1 + self._classes.bit_length()
            need(bound <= 62, f"{name}: sums over {self._classes} classes must fit 62 bits")
            tensors = stored | self._operand | {"gx": result.tensor, "ex": result.exponents}
            c.emit("backward", "dense_input_grad", tensors, down=max(bound - 31, 0), bits=bits,
                   mantissa=self._scale.mantissa, shift=self._scale.shift)  # fmt: skip
            c.contribute(source, result)
