"""The code of a replay level: activations <-> b bits per element.

    encode   index = number of thresholds t[channel] with stored >= t          (b <= 4)
             index = (stored - low) >> cut                                     (b >= 8, cut = max(q_f - b, 0))
    decode   stored = values[channel, index]          or low + (index << cut) + half of 2^cut

Index bit j of all channels is plane j, packed like signs: a pixel takes b * words(channels) words. One bit with
threshold 0 and the values -mean|x|, +mean|x| is the paper's 1-bit latent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.fixedpoint import round_fraction, wide
from bitreplay.engine.arithmetic.packing import pack, unpack, words_for
from bitreplay.engine.arithmetic.quant import SIGNIFICANT, Activation
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.graph import Fixed, LatentCode
from bitreplay.engine.layers.layer import Layer, need
from bitreplay.engine.operations import Run, operation

TABLE_BITS = (1, 2, 4)
LATENT_BITS = (*TABLE_BITS, 8, 16, 32)


@operation("encode_latents", code=70, reads="x thresholds?", writes="code", attributes="bits low cut")
def encode_latents(t: Any, a: Any, run: Run) -> None:
    x = wide(t.x)
    if t.thresholds is not None:
        index = (x[..., None] >= wide(t.thresholds)).sum(axis=-1)
    else:
        index = (x - a.low) >> a.cut
    planes = [pack((index >> plane) & 1) for plane in range(a.bits)]
    t.code[...] = np.concatenate(planes, axis=-1)


@operation("decode_latents", code=71, reads="code values?", writes="x", attributes="bits low cut")
def decode_latents(t: Any, a: Any, run: Run) -> None:
    channels = t.x.shape[-1]
    words = words_for(channels)
    index = np.zeros(t.x.shape, np.int64)
    for plane in range(a.bits):
        ones = unpack(t.code[..., plane * words : (plane + 1) * words], channels)
        index += ones.astype(np.int64) << plane
    if t.values is not None:
        t.x[...] = t.values[np.arange(channels), index]
    else:
        t.x[...] = a.low + (index << a.cut) + ((1 << a.cut) >> 1)


def _linear(bits: int, spec: Activation) -> dict[str, int]:
    return {"bits": bits, "low": spec.low, "cut": max(SIGNIFICANT[spec.bits] - bits, 0)}


def _table(c: Builder, replay_layer: str, bits: int) -> LatentCode:
    codes = c.graph.replay_layers.get(replay_layer, {})
    need(bits in codes, f"replay layer {replay_layer} has latents of {sorted(codes)} bits, not of {bits}")
    return codes[bits]


def _stored(real: Fixed, spec: Activation, dtype: np.dtype) -> np.ndarray:
    numbers = [round_fraction(r / spec.scale) + spec.zero for r in real.fractions()]
    return np.clip(numbers, spec.low, spec.high).astype(dtype).reshape(real.values.shape)


class EncodeLatents(Layer):
    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        spec, bits, replay_layer = x.activation, self.number("bits"), str(self.node.attributes["level"])
        assert spec is not None
        height, width, channels = x.shape
        code = c.hold(c.buffer("latents", np.uint64, (height, width, bits * words_for(channels))))
        tensors = {"x": x.tensor, "code": code}
        if bits in TABLE_BITS:
            thresholds = _stored(_table(c, replay_layer, bits).thresholds, spec, np.dtype(np.int32))
            tensors["thresholds"] = c.constant("level.thresholds", thresholds)
        c.emit("forward", "encode_latents", tensors, **_linear(bits, spec))
        return Value(code, x.shape)


class DecodeLatents(Layer):
    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        bits, replay_layer = self.number("bits"), str(self.node.attributes["level"])
        height, width, channels = c.graph.shapes[replay_layer]
        code = c.hold(c.buffer("latents", np.uint64, (height, width, bits * words_for(channels))))
        x = c.activation_value(replay_layer, (height, width, channels))
        spec = x.activation
        assert spec is not None
        tensors = {"code": code, "x": x.tensor}
        if bits in TABLE_BITS:
            values = _stored(_table(c, replay_layer, bits).values, spec, np.dtype(np.int32))
            tensors["values"] = c.constant("level.values", values)
        c.emit("forward", "decode_latents", tensors, **_linear(bits, spec))
        return x
