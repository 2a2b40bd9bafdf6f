"""Sign with the clipped identity as its derivative, and signs as numbers.

    forward    bit = 1 where stored >= zero;   mask = 1 where |x| <= clip, that is |stored - zero| <= limit
    backward   g_x = g scale mask      (+ what reaches x by another way)

The backward pass keeps one bit per element instead of the activations: limit = floor(clip / scale) is exact.
`sign.py` has the layer. `unpack_signs` gives a layer that reads numbers the signs as -1 and +1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import binary_point, round_fraction, wide
from bitreplay.engine.arithmetic.packing import pack, signs, unpack
from bitreplay.engine.arithmetic.quant import Activation
from bitreplay.engine.arithmetic.second_gradient import quantise_with_second
from bitreplay.engine.builder import Builder, Gradient, Value, other_attributes, other_tensors
from bitreplay.engine.layers.layer import need
from bitreplay.engine.operations import Run, operation

FACTOR_BITS = 26


@operation("pack_signs_clipped", code=14, reads="x", writes="bits mask", attributes="zero limit")
def pack_signs_clipped(t: Any, a: Any, run: Run) -> None:
    distance = wide(t.x) - a.zero
    t.bits[...] = pack(distance >= 0)
    t.mask[...] = pack(np.abs(distance) <= a.limit)


@operation("clipped_sign_input_grad", code=15, reads="g e mask other? other_e?", writes="gx ex",
           attributes="factor shift bound bits other_factor other_shift other_bound")  # fmt: skip
def clipped_sign_input_grad(t: Any, a: Any, run: Run) -> None:
    passed = np.where(unpack(t.mask, t.g.shape[-1]), wide(t.g) * a.factor, 0)
    t.gx[...], t.ex[...] = quantise_with_second(t, a, passed, wide(t.e) - a.shift)


@operation("unpack_signs", code=16, reads="bits", writes="x", attributes="channels")
def unpack_signs(t: Any, a: Any, run: Run) -> None:
    t.x[...] = signs(t.bits, a.channels)


def emit_clipped(c: Builder, x: Value, bits: int, name: str, clip: Fraction) -> int:
    """Emit the forward record; returns the tensor of masks."""
    assert x.activation is not None
    mask = c.buffer(f"{name}.mask", np.uint64, c.tensors[bits].shape)
    c.emit("forward", "pack_signs_clipped", {"x": x.tensor, "bits": bits, "mask": mask}, zero=x.activation.zero,
           limit=clip // x.activation.scale)  # fmt: skip
    return mask


def emit_clipped_grad(c: Builder, x: Value, mask: int, source: str, gradient: Gradient) -> None:
    """Emit the backward record and contribute its result to the gradient of `source`."""
    assert x.activation is not None
    shift = binary_point(x.activation.scale, FACTOR_BITS)
    need(gradient.bound + FACTOR_BITS <= 62, "clipped_sign_input_grad: products must fit 62 bits")
    other = c.pending(source)
    result = c.gradient_buffers(source, x.shape)
    tensors = {"g": gradient.tensor, "e": gradient.exponents, "mask": mask}
    tensors |= {"gx": result.tensor, "ex": result.exponents} | other_tensors(other)
    c.emit("backward", "clipped_sign_input_grad", tensors,
           factor=round_fraction(x.activation.scale * Fraction(2) ** shift), shift=shift,
           bound=gradient.bound + FACTOR_BITS, bits=c.bits.backward_other, **other_attributes(other))  # fmt: skip
    c.contribute(source, result)


def emit_numbers(c: Builder, x: Value, name: str, list_name: str) -> Value:
    """Signs as an int8 tensor of -1 and +1, for a layer that reads numbers."""
    numbers = c.buffer(name, np.int8, x.shape)
    c.emit(list_name, "unpack_signs", {"bits": x.tensor, "x": numbers}, channels=x.shape[2])
    return Value(numbers, x.shape, 1, activation=Activation(8, Fraction(1), 0))
