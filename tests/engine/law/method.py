"""Oracles of the method around the engine: CWR*, reservoir, sampling, the order of minibatches. Plain Python."""

from __future__ import annotations

from fractions import Fraction

from tests.engine.law.numbers import key, multiplier, nearest, random_bits, saturate

RESERVOIR, DRAW, SHUFFLE = 0x5EED0001, 0x5EED0002, 0x5EED0003
Matrix = list[list[int]]


def root(past: int, now: int) -> Fraction:
    """The largest multiple of 2^-16 whose square is at most past / now."""
    low, high = 0, 2**48
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if Fraction(middle, 2**16) ** 2 <= Fraction(past, now) else (low, middle)
    return Fraction(low, 2**16)


def consolidate(cw: Matrix, tw: Matrix, past: list[int], present: list[int]) -> tuple[Matrix, list[int]]:
    """(cw, past) after an experience."""
    trained = [w for c, row in enumerate(tw) for w in row if present[c] > 0]
    mean = nearest(Fraction(sum(trained), len(trained)))
    merged, limit = [list(row) for row in cw], 2**31 - 1
    for c, now in enumerate(present):
        if now > 0:
            r = root(past[c], now)
            pairs = zip(cw[c], tw[c], strict=True)
            merged[c] = [saturate(nearest((old * r + new - mean) / (r + 1)), -limit, limit) for old, new in pairs]
    return merged, [before + now for before, now in zip(past, present, strict=True)]


class Reservoir:
    """Samples are numbered by the order in which they were offered; `stored()` lists (class, number) as in memory."""

    def __init__(self, memory_per_class: int, seed: int) -> None:
        self.memory_per_class, self.seed = memory_per_class, seed
        self.slots: dict[int, list[int]] = {}
        self.seen: dict[int, int] = {}
        self.offered = 0
        self.draws = 0

    def update(self, labels: list[int]) -> None:
        for c in labels:
            slots, count = self.slots.setdefault(c, []), self.seen.get(c, 0)
            if len(slots) < self.memory_per_class:
                slots.append(self.offered)
            else:
                slot = random_bits(key(self.seed, c, RESERVOIR), count) * (count + 1) // 2**32
                if slot < self.memory_per_class:
                    slots[slot] = self.offered
            self.seen[c] = count + 1
            self.offered += 1

    def stored(self) -> list[tuple[int, int]]:
        return [(c, number) for c in sorted(self.slots) for number in self.slots[c]]

    def sample(self, count: int) -> list[int]:
        """Positions in memory: the start of a shuffle, or drawn with replacement where there are too few."""
        order, drawn = list(range(len(self.stored()))), key(self.seed, self.draws, DRAW)
        self.draws += 1
        size = len(order)
        if count > size:
            return [random_bits(drawn, i) * size // 2**32 for i in range(count)]
        for i in range(count):
            j = i + random_bits(drawn, i) * (size - i) // 2**32
            order[i], order[j] = order[j], order[i]
        return order[:count]


def minibatches(samples: int, size: int, seed: int, experience: int, epoch: int) -> list[list[int]]:
    """Sample numbers of each minibatch of an epoch."""
    drawn = key(seed, experience * 2**32 + epoch, SHUFFLE)
    order = sorted(range(samples), key=lambda at: (random_bits(drawn, at), at))
    return [order[start : start + size] for start in range(0, samples, size)]


def rate(fraction: list[int], kind: str, done: int, steps: int) -> list[int]:
    """The multiplier of a step's rate. `fraction` is the rate given, or the gain over the power."""
    first = Fraction(*fraction)
    if kind != "given":
        low, high = 0, 2**40  # the largest r with r^2 <= 20 2^64 / steps
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if Fraction(middle**2) <= Fraction(20 * 2**64, steps) else (low, middle)
        first = min(first * Fraction(low, 2**32), Fraction(1, 10) if kind == "fitted with flips" else Fraction(1))
    return list(multiplier(first * Fraction(steps - done, steps)))
