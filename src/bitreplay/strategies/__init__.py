"""The strategies by name: the paper's method, its baselines, and learning by sums. A file each.

gradient.py has the loop that the first three share.
"""

from bitreplay.strategies.cwr import Cwr
from bitreplay.strategies.exact import Exact
from bitreplay.strategies.naive import Naive
from bitreplay.strategies.replay import Replay
from bitreplay.strategies.strategy import Strategy, StrategyContext

__all__ = ["DEFAULT_STRATEGY", "STRATEGIES", "Strategy", "StrategyContext"]

STRATEGIES: dict[str, type[Strategy]] = {each.name: each for each in (Replay, Cwr, Naive, Exact)}
DEFAULT_STRATEGY = Exact.name
