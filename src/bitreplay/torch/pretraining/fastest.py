"""Choice between a module as it is and torch.compile's version of it, by timing training steps themselves.

Some steps run eagerly, then some compiled (the first of each are left out), and the faster way stays. A compiler that
fails or is missing costs a message, not the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch
from torch import nn

WARM, TIMED = 5, 15


class FastestForward:
    """`modules` are used together; `current` holds the callables to use in this step. Call `tick` after every step."""

    def __init__(self, modules: Sequence[nn.Module], mode: str, say: Callable[[str], None]) -> None:
        """`mode`: "auto" times both, "on" compiles at once, "off" never does."""
        self.eager: list[Callable] = list(modules)
        self.current: list[Callable] = self.eager
        self.say, self.mode = say, mode
        self.steps, self.began, self.eager_seconds = 0, 0.0, float("inf")
        self.deciding = mode == "auto"
        if mode == "on":
            self.use_compiled()

    def use_compiled(self) -> None:
        self.current = [torch.compile(module, dynamic=False) for module in self.eager]
        self.steps = 0

    @property
    def compiled(self) -> bool:
        return self.current is not self.eager

    def give_up(self, error: Exception) -> None:
        """The compiled version failed: go on without it."""
        first_line = (str(error).strip().splitlines() or ["no message"])[0]
        self.say(f"compilation failed, going on without it: {type(error).__name__}: {first_line[:200]}")
        self.current, self.deciding = self.eager, False

    def tick(self) -> None:
        if not self.deciding:
            return
        self.steps += 1
        if self.steps == WARM:
            self.began = self.now()
        elif self.steps == WARM + TIMED:
            seconds = (self.now() - self.began) / TIMED
            if not self.compiled:
                self.eager_seconds = seconds
                self.use_compiled()
                return
            self.say(f"ms a step: {1000 * self.eager_seconds:.1f} eager, {1000 * seconds:.1f} compiled")
            self.deciding = False
            if seconds > self.eager_seconds:
                self.current = self.eager

    @staticmethod
    def now() -> float:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter()
