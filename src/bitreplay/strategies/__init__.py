"""The strategies by name: the paper's method, its baselines. A file each; gradient.py has the loop that they share."""

from bitreplay.strategies.cwr import Cwr
from bitreplay.strategies.naive import Naive
from bitreplay.strategies.replay import Replay
from bitreplay.strategies.strategy import Ground, Strategy

__all__ = ["STRATEGIES", "Ground", "Strategy"]

STRATEGIES: dict[str, type[Strategy]] = {each.name: each for each in (Replay, Cwr, Naive)}
