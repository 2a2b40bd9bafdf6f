"""docs/faq.md's figures."""

from __future__ import annotations

from figures.shared import demo, step_memory

PAGE = "docs/faq.md"
__all__ = ["demo", "step_memory"]
