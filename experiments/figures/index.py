"""docs/index.md's figures."""

from __future__ import annotations

from figures.shown import forgetting

PAGE = "docs/index.md"
__all__ = ["forgetting"]
