"""How many bits numbers have: the three widths of the paper."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bits:
    """Bit widths: q_f, q_b^bin (1: binary weights stay frozen) and q_b^non-bin.

    >>> str(Bits(backward_binary=8))
    '8/8/16'
    """

    forward: int = 8
    backward_binary: int = 1
    backward_other: int = 16

    def __post_init__(self) -> None:
        for name, allowed in (("forward", (8, 16, 32)), ("backward_binary", (1, 4, 8, 16, 32)),
                              ("backward_other", (8, 16, 32))):  # fmt: skip
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} bits must be one of {allowed}, got {getattr(self, name)}")

    def __str__(self) -> str:
        return f"{self.forward}/{self.backward_binary}/{self.backward_other}"
