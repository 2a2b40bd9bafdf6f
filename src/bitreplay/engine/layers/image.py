"""The door: uint8 images -> integers, by a table of 256 numbers per colour.

    stored = table[u, colour],  value = scale * stored

For inputs scaled to [-1, 1] the table is 2u - 255 and the scale 1/255: exact, and 0 is the real number 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bitreplay.engine.arithmetic.quant import Activation
from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.graph import Node
from bitreplay.engine.kind import ACTIVATION, SHORT, Arrays, Kind, Yield, dimensions
from bitreplay.engine.layers.layer import Layer
from bitreplay.engine.operations import Run, operation


@operation("image_table", code=60, reads="image table", writes="y")
def image_table(t: Any, a: Any, run: Run) -> None:
    colours = np.arange(t.image.shape[-1])
    t.y[...] = t.table[t.image, colours]


def expected(node: Node, inputs: list[Yield]) -> tuple[Arrays, Yield]:
    colours = dimensions(node, "table", 2)[1]
    return {"table": (SHORT, (256, colours))}, Yield(ACTIVATION, (0, 0, colours))  # the size is the network's


class Image(Layer):
    """Arrays: table (256, colours) int16. Attribute: scale_denominator."""

    kind = Kind(expected, reads=(), attributes={"scale_denominator": range(1, 1 << 16)})

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        shape = c.graph.input_shape
        table = self.node.arrays["table"]
        assert isinstance(table, np.ndarray) and table.dtype == np.int16
        image = c.hold(c.buffer("images", np.uint8, shape))
        y = c.buffer(self.node.name, np.int16, shape)
        c.emit("forward", "image_table", {"image": image, "table": c.constant("image.table", table), "y": y})
        spec = Activation(16, Fraction(1, self.number("scale_denominator", 255)), 0)
        return Value(y, shape, int(np.abs(table.astype(np.int64)).max()), activation=spec)
