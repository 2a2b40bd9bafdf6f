"""Lays tensors out in one arena so that those alive at the same time do not overlap.

In: {number: (bytes, first use, last use)}. Out: offsets (multiples of 64) and the arena's size. Greedy by size: the
largest tensor first, each at the lowest offset that is free during its life.
"""

from __future__ import annotations

from bitreplay.engine.aligned import ALIGNMENT


class Arena:
    def __init__(self, lives: dict[int, tuple[int, int, int]]) -> None:
        self.offsets: dict[int, int] = {}
        self.bytes = 0
        placed: list[tuple[int, int, int, int]] = []
        for number, (size, first, last) in sorted(lives.items(), key=lambda item: (-item[1][0], item[0])):
            size = -(-size // ALIGNMENT) * ALIGNMENT
            at = 0
            for start, end, other_first, other_last in sorted(placed):
                if other_first <= last and first <= other_last and start < at + size and at < end:
                    at = end
            placed.append((at, at + size, first, last))
            self.offsets[number] = at
            self.bytes = max(self.bytes, at + size)
