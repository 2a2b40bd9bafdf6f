"""docs/microcontrollers.md's figures."""

from __future__ import annotations

from figures.shared import exact

PAGE = "docs/microcontrollers.md"
__all__ = ["exact"]
