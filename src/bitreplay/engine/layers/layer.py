"""What every layer is.

    class MyLayer(Layer):
        kind = Kind(...)                             what its node must look like in a file (engine/kind.py)
        def trains(self, c): ...                     does it hold parameters that learn under c.bits?
        def forward(self, c, inputs) -> Value: ...   emit `forward` (and `prepare`) records
        def backward(self, c, inputs): ...           take c.stored_gradient(name), emit `backward` and `update` records

A layer's file holds the layer and the reference functions of its operations; layers/__init__.py has the one registry.
"""

from __future__ import annotations

from bitreplay.engine.builder import Builder, Value
from bitreplay.engine.graph import Fixed, Node
from bitreplay.engine.kind import Kind
from bitreplay.engine.program import ProgramError


def need(condition: bool, sentence: str) -> None:
    """Refuse a network that integers of this width cannot hold: its numbers come from a file."""
    if not condition:
        raise ProgramError(sentence)


class Layer:
    kind: Kind | None = None  # None: no file holds such a node

    def __init__(self, node: Node) -> None:
        self.node = node

    def trains(self, c: Builder) -> bool:
        return False

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        raise AssertionError(f"{type(self).__name__} lacks forward")

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        raise AssertionError(f"{type(self).__name__} lacks backward")

    def fixed(self, name: str) -> Fixed:
        array = self.node.arrays[name]
        assert isinstance(array, Fixed)
        return array

    def number(self, name: str, default: int | None = None) -> int:
        value = self.node.attributes.get(name, default)
        assert isinstance(value, int), (self.node.name, name, value)
        return value
