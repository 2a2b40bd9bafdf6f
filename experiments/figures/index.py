"""docs/index.md's figures."""

from __future__ import annotations

from figures.committed import forgotten

PAGE = "docs/index.md"


def forgetting(data: str) -> str:
    return forgotten(data, "exact")
