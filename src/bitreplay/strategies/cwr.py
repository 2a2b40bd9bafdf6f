"""BNN+CWR*, a baseline: only the head learns, nothing is stored, the head is consolidated."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from bitreplay.strategies.gradient import Gradient


class Cwr(Gradient):
    name: ClassVar[str] = "cwr"
    title: ClassVar[str] = "BNN+CWR*"
    trains: ClassVar[str] = "head"
    gain: ClassVar[Fraction] = Fraction(3)
