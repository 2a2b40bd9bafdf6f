"""docs/raspberry-pi.md's figures."""

from __future__ import annotations

from decimal import Decimal

from figures.committed import BENCHMARKS, format_number, rows_where, single_row
from figures.shared import forward_ms, making, planned, small_state, state

PAGE = "docs/raspberry-pi.md"
__all__ = ["forward_ms", "making", "planned", "small_state", "state"]


def instructions(model: str) -> str:
    """Millions, of one picture on ARMv8.0."""
    row = single_row(rows_where(BENCHMARKS / "arm_instructions.csv", model=model, part="whole", operation="together"))
    return format_number(Decimal(row["neon"]) / 10**6, 0)
