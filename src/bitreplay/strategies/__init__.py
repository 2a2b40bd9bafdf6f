"""The strategies by name: the paper's method, its baselines, and learning by sums. A file each, imported when it is
first asked for.

gradient.py has the loop that the first three share.
"""

from __future__ import annotations

from collections import UserDict
from importlib import import_module

from bitreplay.strategies.strategy import Strategy, StrategyContext

__all__ = ["DEFAULT_STRATEGY", "STRATEGIES", "Strategy", "StrategyContext"]


class _Strategies(UserDict[str, type[Strategy]]):
    """Classes by name; of one that was not asked for yet, its name in the file of the strategy's name."""

    def __getitem__(self, name: str) -> type[Strategy]:
        kind = super().__getitem__(name)
        if isinstance(kind, str):
            self.data[name] = kind = getattr(import_module(f"bitreplay.strategies.{name}"), kind)
        return kind


STRATEGIES = _Strategies()
STRATEGIES.data |= {"replay": "Replay", "cwr": "Cwr", "naive": "Naive", "exact": "Exact"}  # type: ignore[dict-item]
DEFAULT_STRATEGY = "exact"
