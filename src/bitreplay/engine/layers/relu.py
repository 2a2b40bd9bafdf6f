"""ReLU: max(x, 0), with derivative 0 at 0. `clip.py` has its operations."""

from __future__ import annotations

from fractions import Fraction

from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.kind import ACTIVATION, SUMS, Kind, unchanged
from bitreplay.engine.layers.clip import UNBOUNDED, Clip
from bitreplay.engine.layers.layer import need


class ReLU(Clip):
    """Reads activations and yields activations (needs a range), or reads sums and yields sums. No attributes."""

    kind = Kind(unchanged, ((ACTIVATION, SUMS),))

    def _limit(self, name: str) -> Fraction | None:
        return Fraction(0) if name == "low" else None

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        if x.activation is not None:
            return super().forward(c, inputs)
        need(x.scales is not None and x.scales.positive, f"{self.node.name}: sums with a positive scale are expected")
        y = Value(c.buffer(self.node.name, c.tensors[x.tensor].dtype, x.shape), x.shape, x.bound, scales=x.scales)
        self._scales = Multiplier(1, 0)
        self._emit(c, x, y, 0, UNBOUNDED)
        self._inside = {"above": 0, "below": UNBOUNDED}
        self._looks_at = y.tensor
        return y
