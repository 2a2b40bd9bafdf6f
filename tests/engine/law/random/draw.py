"""Random inputs for operations: small maps, all widths, zeros and extremes more often than chance would have it."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from tests.engine.law.arrays import Nested, build
from tests.engine.law.case import Case, Held
from tests.engine.law.numbers import NO_GRADIENT, SIGNIFICANT

DTYPE = {8: "int8", 16: "int16", 32: "int32"}


class Draw:
    """A random generator with the choices that the cases share."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.samples = self.random.randint(1, 3)
        self.height, self.width = self.random.randint(1, 4), self.random.randint(1, 4)
        self.channels = self.random.choice((1, 2, 5, 64, 65))
        self.forward, self.backward = self.random.choice((8, 16, 32)), self.random.choice((8, 16, 32))

    def number(self, low: int, high: int) -> int:
        """Between low and high; one in eight is an end or 0."""
        if self.random.random() < 0.125:
            return self.random.choice((low, high, min(max(0, low), high)))
        return self.random.randint(low, high)

    def zero(self) -> int:
        """A zero point of the activations."""
        limit = 2 ** (SIGNIFICANT[self.forward] - 1)
        return self.number(-limit, limit - 1)

    def held(self, dtype: str, shape: tuple[int, ...], low: int, high: int, per_sample: bool = True) -> Held:
        shape = (self.samples, *shape) if per_sample else shape
        return Held(dtype, per_sample, build(shape, lambda *_: self.number(low, high)))

    def empty(self, dtype: str, shape: tuple[int, ...], per_sample: bool = True) -> Held:
        return self.held(dtype, shape, 0, 0, per_sample)

    def words(self, shape: tuple[int, ...], channels: int, per_sample: bool = True) -> Held:
        """Packed rows of channels; the padding is 0."""
        shape = (self.samples, *shape) if per_sample else shape
        count = -(-channels // 64)
        limits = [2 ** (64 if w < count - 1 or channels % 64 == 0 else channels % 64) - 1 for w in range(count)]
        return Held("uint64", per_sample, build((*shape, count), lambda *at: self.number(0, limits[at[-1]])))

    @property
    def map(self) -> tuple[int, int, int]:
        return self.height, self.width, self.channels

    def activations(self, shape: tuple[int, ...] | None = None) -> Held:
        limit = 2 ** (SIGNIFICANT[self.forward] - 1)
        return self.held(DTYPE[self.forward], shape or self.map, -limit, limit - 1)

    def gradient(self, shape: tuple[int, ...] | None = None) -> Held:
        shape = shape or self.map
        limit = 2 ** (SIGNIFICANT[self.backward] - 1) - 1
        rows = [build(shape, lambda *_: self.number(-limit, limit)) for _ in range(self.samples)]
        return Held(DTYPE[self.backward], True, rows)

    def exponents(self, gradient: Held) -> Held:
        """Exponents far apart; NO_GRADIENT for the samples it picks, whose gradient becomes 0."""
        found = []
        for n in range(self.samples):
            dead = self.random.random() < 0.25
            found.append(NO_GRADIENT if dead else self.random.randint(-60, 5))
            if dead:
                gradient.values[n] = zeros(gradient.values[n])
        return Held("int32", True, found)

    def run(self) -> dict[str, int]:
        r = self.random
        return {"samples": self.samples, "seed": r.randint(0, 2**64 - 1), "step": r.randint(0, 2**20),
                "rate_mantissa": r.randint(2**30, 2**31 - 1), "rate_shift": r.randint(25, 45)}  # fmt: skip

    def case(self, operation: str, tensors: Mapping[str, Held | None], **attributes: int) -> Case:
        return Case("random", operation, tensors, attributes, self.run())


def zeros(x: Nested) -> Nested:
    return 0 if isinstance(x, int) else [zeros(part) for part in x]
