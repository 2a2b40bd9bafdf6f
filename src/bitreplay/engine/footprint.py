"""How much memory a program takes when the native core runs it: known before it runs, and nothing more is taken."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class Footprint:
    """Bytes, part by part; `total` is what running the program takes of a process.

    image        the program itself: tables, first parameters, constants (Program.image)
    tables       the same tables, decoded
    derived      constant weights in the order in which kernels read them
    parameters   what learns
    arena        tensors, laid out by lifetime
    scratch      what operations work in, among it learned weights in the kernels' order; shared, one runs at a time
    """

    image: int
    tables: int
    packed_weights: int
    parameters: int
    arena: int
    scratch: int

    @property
    def total(self) -> int:
        return sum(astuple(self))
