"""docs/index.md's figures."""

from __future__ import annotations

from figures.shared import ahead, forgetting

PAGE = "docs/index.md"
__all__ = ["ahead", "forgetting"]
