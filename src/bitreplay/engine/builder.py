"""What layers emit into: tensors, records and the book-keeping of gradients.

A Builder is filled by `compile.py`, node by node: each layer places its tensors, emits records, and in the backward
walk takes the gradient of its output and contributes to those of its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.quant import SIGNIFICANT, STORAGE, Activation, Scales
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.graph import Graph
from bitreplay.engine.layout import Arena
from bitreplay.engine.operations import OPERATIONS
from bitreplay.engine.program import LISTS, Program, ProgramError, Record, Tensor, check

CONVOLUTIONS = ("integer_conv", "depthwise_conv")
SMALL_ARENA = 1 << 19  # bytes for one sample up to which memory counts more than time: microcontrollers


@dataclass(frozen=True)
class Value:
    """What a node yields: where it is stored and what the integers mean.

    `activation` for q_f tensors; `scales` for exact sums of a convolution; neither for
    packed signs. `bound` limits |integer| (|stored - zero| for activations).
    """

    tensor: int
    shape: tuple[int, int, int]
    bound: int = 1
    activation: Activation | None = None
    scales: Scales | None = None

    @property
    def channel_scales(self) -> Scales:
        """The real value of one unit, per channel."""
        if self.scales is not None:
            return self.scales
        assert self.activation is not None, "packed signs have no scale"
        return Scales(self.activation.scale, (1,) * self.shape[2])


@dataclass(frozen=True)
class Gradient:
    """Derivative with respect to stored integers: stored * factor * 2^(exponent - shift); |stored| < 2^bound."""

    tensor: int
    exponents: int
    bound: int
    factor: int = 1
    shift: int = 0


class Builder:
    """Collects tensors and records. Layers call `constant`, `parameter`, `buffer`, `emit` and the gradient methods.

    With `keep`, no tensor of the arena shares its place with another, so that every one can be read after a run.
    """

    def __init__(self, graph: Graph, bits: Bits, max_samples: int, train: str, keep: bool = False) -> None:
        if train not in ("tail", "head", "nothing"):
            raise ProgramError(f"what trains must be tail, head or nothing, got {train!r}")
        if not isinstance(bits, Bits):
            raise ProgramError(f"bit widths must be Bits, got {bits!r}")
        if type(max_samples) is not int or not 1 <= max_samples < 1 << 31:
            raise ProgramError(f"the largest minibatch must be an integer from 1 to 2^31 - 1, got {max_samples!r}")
        self.graph, self.bits, self.max_samples, self.keep = graph, bits, max_samples, keep
        self.training, self.train_tail = train != "nothing", train == "tail"
        self.values: dict[str, Value] = {}
        self.tensors: list[Tensor] = []
        self.records: list[Record] = []
        self.needs_gradient: set[str] = set()
        self._pending: dict[str, Gradient] = {}
        self._held: set[int] = set()
        self._same: dict[int, int] = {}
        self._contents: dict[str, list[NDArray[np.uint8]]] = {"constant": [], "parameter": []}
        self._sizes = {"constant": 0, "parameter": 0}

    # tensors

    def _add(self, name: str, region: str, dtype: np.dtype, shape: tuple[int, ...], per_sample: bool, at: int) -> int:
        assert len(shape) <= 4 and len(name.encode()) <= 44, (name, shape)
        self.tensors.append(Tensor(name, region, dtype, tuple(int(n) for n in shape), per_sample, at))
        return len(self.tensors) - 1

    def _content(self, region: str, name: str, array: NDArray) -> int:
        raw = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        padded = np.zeros(-(-len(raw) // 64) * 64, np.uint8)
        padded[: len(raw)] = raw
        at = self._sizes[region]
        self._contents[region].append(padded)
        self._sizes[region] += len(padded)
        return self._add(name, region, array.dtype, array.shape, False, at)

    def constant(self, name: str, array: NDArray) -> int:
        return self._content("constant", name, array)

    def parameter(self, name: str, array: NDArray) -> int:
        """A learned tensor with its first value."""
        return self._content("parameter", name, array)

    def buffer(self, name: str, dtype: np.dtype | type, shape: tuple[int, ...], per_sample: bool = True) -> int:
        """A tensor of the arena; it lives from its first to its last use."""
        return self._add(name, "arena", np.dtype(dtype), shape, per_sample, 0)

    def hold(self, tensor: int) -> int:
        """Let a tensor live for the whole program: inputs, outputs, and operands derived from parameters."""
        self._held.add(tensor)
        return tensor

    def hold_sums(self) -> None:
        """Let sums over samples live for the whole program: they wait for the other parts of a minibatch."""
        for record in self.records:
            entry = OPERATIONS[record.operation]
            if entry.merges:
                written = [n for role, n in zip(entry.tensors, record.tensors, strict=True) if entry.written(role)]
                self._held |= {number for number in written if number >= 0}

    def reshaped(self, tensor: int, name: str, shape: tuple[int, ...], dtype: np.dtype | type | None = None) -> int:
        """The same bytes under another name and shape, and as another type of the same size."""
        base = self.tensors[tensor]
        kind = np.dtype(dtype or base.dtype)
        assert base.region == "arena" and np.prod(shape) == np.prod(base.shape), (base, shape)
        assert kind.itemsize == base.dtype.itemsize, (base, kind)
        self._same[self._add(name, "arena", kind, shape, base.per_sample, 0)] = self._same.get(tensor, tensor)
        return len(self.tensors) - 1

    # records

    def emit(self, list_name: str, operation: str, tensors: dict[str, int], **attributes: int) -> None:
        entry = OPERATIONS[operation]
        assert set(tensors) <= set(entry.tensors) and set(attributes) == set(entry.attributes), (operation, attributes)
        ids = tuple(tensors.get(role, -1) for role in entry.tensors)
        self.records.append(Record(operation, list_name, ids, tuple(int(attributes[a]) for a in entry.attributes)))

    def activation(self, name: str) -> Activation:
        """The q_f representation of a node's output, from its calibrated range."""
        return Activation.of_range(*self.graph.ranges[name], self.bits.forward)

    def activation_value(self, name: str, shape: tuple[int, int, int]) -> Value:
        spec = self.activation(name)
        tensor = self.buffer(name, STORAGE[spec.bits], shape)
        return Value(tensor, shape, spec.largest, activation=spec)

    # gradients

    def gradient_buffers(self, name: str, shape: tuple[int, ...]) -> Gradient:
        """Room for a stored gradient of q_b^non-bin bits and its exponents."""
        bits = self.bits.backward_other
        tensor = self.buffer(f"{name}.grad", STORAGE[bits], shape)
        return Gradient(tensor, self.buffer(f"{name}.exp", np.int32, ()), SIGNIFICANT[bits] - 1)

    def pending(self, name: str) -> Gradient | None:
        """Take what later nodes have contributed so far; the caller adds its own part and gives the sum back."""
        return self._pending.pop(name, None)

    def contribute(self, name: str, gradient: Gradient) -> None:
        """Give a contribution to the gradient of a node's output."""
        first = self._pending.pop(name, None)
        self._pending[name] = gradient if first is None else self._sum(name, first, gradient)

    def stored_gradient(self, name: str) -> Gradient | None:
        """The whole gradient of a node's output as a stored tensor, or None if nothing flows there."""
        gradient = self._pending.pop(name, None)
        if gradient is None or (gradient.factor, gradient.shift) == (1, 0):
            return gradient
        return self._sum(name, gradient, None)

    def _sum(self, name: str, first: Gradient, second: Gradient | None) -> Gradient:
        total = self.gradient_buffers(f"{name}.sum", self.tensors[first.tensor].shape)
        tensors = {"g": first.tensor, "e": first.exponents, "gx": total.tensor, "ex": total.exponents}
        tensors |= other_tensors(second)
        self.emit("backward", "gradient_sum", tensors, factor=first.factor, shift=first.shift,
                  bound=product_bound(first), bits=self.bits.backward_other,
                  **other_attributes(second))  # fmt: skip
        return total

    def _uses(self) -> dict[int, list[int]]:
        """The records that use a tensor, by number."""
        uses: dict[int, list[int]] = {}
        for at, record in enumerate(self.records):
            for number in record.tensors:
                uses.setdefault(self._same.get(number, number), []).append(at)
        return uses

    def _joins(self) -> Iterator[tuple[int, Record, int]]:
        """Convolutions with a BatchNorm behind them: which record, and the sums that go from one to the other."""
        for at, (first, second) in enumerate(pairwise(self.records)):
            if first.operation in CONVOLUTIONS and second.operation == "affine":
                sums = first.tensors[OPERATIONS[first.operation].tensors.index("sums")]
                if second.tensors[OPERATIONS["affine"].tensors.index("x")] == sums:
                    yield at, first, sums

    def _arena(self, together: bool, passing: Set[int] = frozenset()) -> Arena:
        """Places by lifetime. The core may run a convolution `together` with the BatchNorm behind it where what the
        first reads lasts until the second has written; sums that are `passing` then need no place."""
        uses = self._uses()
        for at, first, _ in self._joins() if together else ():
            for number in first.tensors:
                uses[self._same.get(number, number)].append(at + 1)
        spans = {}
        for number, tensor in enumerate(self.tensors):
            if tensor.region == "arena" and number not in self._same and number not in passing:
                assert number in uses or number in self._held, f"tensor {tensor.name} is never used"
                throughout = self.keep or number in self._held
                spans[number] = (-1, len(self.records)) if throughout else (min(uses[number]), max(uses[number]))
        return Arena({n: (self.tensors[n].bytes(self.max_samples), *span) for n, span in spans.items()})

    def _passing(self) -> set[int]:
        """Sums of one sample that a convolution hands to the BatchNorm behind it, and that nothing else reads."""
        uses, renamed = self._uses(), {*self._same, *self._same.values()}
        if self.max_samples > 1 or self.keep:
            return set()
        return {
            sums for at, _, sums in self._joins()
            if uses[sums] == [at, at + 1] and sums not in self._held and sums not in renamed
        }  # fmt: skip

    def finish(self) -> Program:
        order = {name: number for number, name in enumerate(("forward", "backward", "update", "prepare"))}
        self.records.sort(key=lambda record: order[record.list])
        arena, passing = self._arena(together=False), self._passing()
        if passing and (small := self._arena(together=True, passing=passing)).bytes <= SMALL_ARENA:
            arena = small
            self.tensors = [replace(t, region="passing") if n in passing else t for n, t in enumerate(self.tensors)]
        elif arena.bytes > SMALL_ARENA * self.max_samples:
            arena = self._arena(together=True)
        tensors = [
            replace(tensor, offset=arena.offsets[at]) if (at := self._same.get(n, n)) in arena.offsets else tensor
            for n, tensor in enumerate(self.tensors)
        ]
        self.records.sort(key=lambda record: LISTS.index(record.list))
        empty = [np.zeros(64, np.uint8)]
        program = Program(
            self.max_samples, tensors, self.records, arena.bytes, arena.bytes,
            np.concatenate(self._contents["parameter"] or empty), np.concatenate(self._contents["constant"] or empty),
        )  # fmt: skip
        check(program)
        return program


def other_tensors(gradient: Gradient | None) -> dict[str, int]:
    """The optional second term of an input-gradient record: tensors."""
    return {} if gradient is None else {"other": gradient.tensor, "other_e": gradient.exponents}


def other_attributes(gradient: Gradient | None) -> dict[str, int]:
    """The optional second term of an input-gradient record: attributes."""
    if gradient is None:
        return {"other_factor": 0, "other_shift": 0, "other_bound": 0}
    return {
        "other_factor": gradient.factor,
        "other_shift": gradient.shift,
        "other_bound": product_bound(gradient),
    }


def product_bound(gradient: Gradient) -> int:
    """|stored * factor| < 2^bound."""
    bound = gradient.bound + gradient.factor.bit_length()
    if bound > 62:
        raise ProgramError(f"a gradient of {gradient.bound} bits times {gradient.factor} must fit 62 bits")
    return bound
