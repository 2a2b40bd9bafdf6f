"""check_layer finds what is wrong with a layer, each fault by its sentence; and a user's own layer passes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bitreplay.engine.arithmetic.fixedpoint import saturate, wide
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.builder import Builder, Gradient, Value
from bitreplay.engine.checks import CheckError, Oracle, check_layer, small_graph
from bitreplay.engine.graph import Graph, Node
from bitreplay.engine.layers import LAYERS
from bitreplay.engine.layers.layer import Layer
from bitreplay.engine.layout import Arena
from bitreplay.engine.operations import BY_CODE, OPERATIONS, Run, operation

SHAPE = (3, 3, 5)
RANGE = (Fraction(-2), Fraction(2))


class Negate(Layer):
    """A user's layer: -x, in the same units. `forward_name` and `factor` are what the faults below change."""

    forward_name = "negate"
    factor = -1

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        (x,) = inputs
        y = c.activation_value(self.node.name, x.shape)
        assert x.activation is not None and y.activation is not None
        c.emit("forward", self.forward_name, {"x": x.tensor, "y": y.tensor}, x_zero=x.activation.zero,
               y_zero=y.activation.zero, low=y.activation.low, high=y.activation.high)  # fmt: skip
        return y

    def backward(self, c: Builder, inputs: list[Value]) -> None:
        gradient = c.stored_gradient(self.node.name)
        assert gradient is not None
        c.contribute(self.node.inputs[0], Gradient(gradient.tensor, gradient.exponents, gradient.bound, self.factor))


def negated(t: Any, a: Any) -> np.ndarray:
    return saturate(a.y_zero - (wide(t.x) - a.x_zero), a.low, a.high)


def negate(t: Any, a: Any, run: Run) -> None:
    t.y[...] = negated(t, a)


def in_floating_point(t: Any, a: Any, run: Run) -> None:
    t.y[...] = (negated(t, a) / 1).astype(np.int64)


def adds_to_its_output(t: Any, a: Any, run: Run) -> None:
    t.y[...] = negated(t, a) + (t.y & 1)


def leaves_the_last_channel(t: Any, a: Any, run: Run) -> None:
    t.y[..., :-1] = negated(t, a)[..., :-1]


def changes_its_input(t: Any, a: Any, run: Run) -> None:
    t.y[...] = negated(t, a)
    t.x[0, 0, 0, 0] ^= 1


def one_unit_off(t: Any, a: Any, run: Run) -> None:
    t.y[...] = saturate(negated(t, a) + 1, a.low, a.high)


class Flatter(Negate):
    """Declares another shape than it writes."""

    def forward(self, c: Builder, inputs: list[Value]) -> Value:
        y = super().forward(c, inputs)
        return Value(y.tensor, (y.shape[0], y.shape[1], y.shape[2] - 1), y.bound, activation=y.activation)


class WrongSign(Negate):
    factor = 1


class TooLong(Negate):
    factor = -2


@pytest.fixture
def own_operations():
    """Operations of the tests, gone afterwards."""
    before = dict(OPERATIONS), dict(BY_CODE), dict(LAYERS)
    faults = (negate, in_floating_point, adds_to_its_output, leaves_the_last_channel, changes_its_input, one_unit_off)
    for number, function in enumerate(faults):
        operation(function.__name__, code=9000 + number, reads="x", writes="y",
                  attributes="x_zero y_zero low high")(function)  # fmt: skip
    yield
    for registry, content in zip((OPERATIONS, BY_CODE, LAYERS), before, strict=True):
        registry.clear()  # type: ignore[attr-defined]
        registry.update(content)  # type: ignore[attr-defined]


def checked(layer: type[Layer], bits: Bits | None = None) -> None:
    LAYERS["own"] = layer
    graph: Graph = small_graph([Node("mine", "own", ("before",))], SHAPE, {"mine": RANGE})
    oracle = Oracle(lambda inputs: -inputs[0], lambda inputs, g: ([-g], {}))
    check_layer(graph, "mine", oracle, bits=bits)


@pytest.mark.parametrize("bits", [Bits(8, 1, 8), Bits(16, 1, 16), Bits(32, 1, 32)], ids=str)
def test_a_users_own_layer_passes(own_operations, bits):
    checked(Negate, bits)


@pytest.mark.parametrize(
    "fault, sentence",
    [
        ("in_floating_point", "makes floating point"),
        ("adds_to_its_output", "depends on what the arena held before"),
        ("leaves_the_last_channel", "depends on what the arena held before"),
        ("changes_its_input", "changes_its_input changes before, which it only reads"),
        ("one_unit_off", "differs from the oracle by 1.0"),
    ],
)
def test_a_fault_of_an_operation_is_found(own_operations, fault, sentence):
    with pytest.raises(CheckError, match=sentence):
        checked(type("Faulty", (Negate,), {"forward_name": fault}))


@pytest.mark.parametrize(
    "layer, sentence",
    [
        (Flatter, r"declares \(3, 3, 4\) and its tensor has \(3, 3, 5\)"),
        (WrongSign, "the gradient of its input before has a cosine of 1 - 2"),
        (TooLong, "the gradient of its input before is 2.0000 times as long"),
    ],
)
def test_a_fault_of_a_layer_is_found(own_operations, layer, sentence):
    with pytest.raises((CheckError, AssertionError), match=sentence):
        checked(layer)


def test_a_rate_that_is_not_heeded_is_found(monkeypatch):
    entry = OPERATIONS["batchnorm_update"]

    def restless(t: Any, a: Any, run: Run) -> None:
        entry.reference(t, a, run)
        t.gamma[0] += 1

    monkeypatch.setitem(OPERATIONS, "batchnorm_update", replace(entry, reference=restless))
    with pytest.raises(CheckError, match="a learning rate of 0 changes a parameter"):
        check_layer(small_graph([], SHAPE, {}), "before")


def test_a_place_given_away_too_early_is_found(monkeypatch):
    class Hasty(Arena):
        def __init__(self, lives: dict[int, tuple[int, int, int]]) -> None:
            super().__init__({number: (size, first, first) for number, (size, first, _) in lives.items()})

    monkeypatch.setattr("bitreplay.engine.builder.Arena", Hasty)
    with pytest.raises(CheckError, match="tensors that share a place change"):
        check_layer(small_graph([], SHAPE, {}), "before")


def test_an_arena_larger_than_its_tensors_is_found(monkeypatch):
    class Lavish(Arena):
        def __init__(self, lives: dict[int, tuple[int, int, int]]) -> None:
            super().__init__(lives)
            self.bytes += 64

    monkeypatch.setattr("bitreplay.engine.builder.Arena", Lavish)
    with pytest.raises(CheckError, match="tensors reach [0-9]+ bytes, the plan is [0-9]+"):
        check_layer(small_graph([], SHAPE, {}), "before")
