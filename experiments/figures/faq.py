"""docs/faq.md's figures."""

from __future__ import annotations

from figures.shown import exact, step_memory

PAGE = "docs/faq.md"
__all__ = ["exact", "step_memory"]
