"""An estimate of time from counted work. It is rough, a factor of two or three: `--measure` runs it instead.

Picoseconds for one multiplication or element, by instruction set. Those of x86 were fitted to the shipped networks on
one core of a server (Zen 5); NEON's follow from counted instructions (docs/kernels.md) at two a nanosecond.
"""

from __future__ import annotations

from collections.abc import Mapping

from bitreplay.engine import native
from bitreplay.planning.work import KINDS

PICOSECONDS = {
    "avx512": (0.5, 1.2, 4, 70),
    "avxvnni": (1.2, 3, 8, 120),
    "avx2": (1.2, 3, 12, 120),
    "dotprod": (15, 100, 100, 1000),
    "neon": (15, 100, 250, 1000),
    "scalar": (105, 45, 1350, 1000),
}


def instruction_set() -> str:
    """The instruction set that this machine uses; scalar without the core."""
    try:
        isa = native.isa()
    except OSError:
        return "scalar"
    return isa if isa in PICOSECONDS else "scalar"


def seconds(work: Mapping[str, int], path: str) -> float:
    return sum(work[kind] * each for kind, each in zip(KINDS, PICOSECONDS[path], strict=True)) * 1e-12
