"""docs/planning.md's figures."""

from __future__ import annotations

from figures.shared import at_work, planned_there

PAGE = "docs/planning.md"
__all__ = ["at_work", "planned_there"]
