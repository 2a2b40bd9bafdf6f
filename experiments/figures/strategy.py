"""docs/strategy.md's figures."""

from __future__ import annotations

from figures.shared import exact, gradients, small, small_state, state

PAGE = "docs/strategy.md"
__all__ = ["exact", "gradients", "small", "small_state", "state"]
