"""How far a training run is, and the learning rate there.

Progress p goes from 0 to 1. Before each epoch the number R of epochs still to come is estimated and the epoch covers
(1 - p) / R of the way, so p is exactly linear when the number of epochs is fixed, and follows the clock, smoothly and
never backwards, when a time limit decides: either way the rate has come down to 0 at the end.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field

WARM_UP = 0.02  # of a stage


@dataclass
class Schedule:
    """`epochs` at most, and `time_limit` seconds when given, of which `reserve` are kept for the end."""

    epochs: int
    time_limit: float | None = None
    reserve: float = 15.0
    done: int = 0
    progress: float = 0.0
    seconds: list[float] = field(default_factory=list)

    def remaining(self, elapsed: float) -> int:
        """Epochs still to come, `elapsed` seconds after this process began."""
        left = self.epochs - self.done
        if self.time_limit is None:
            return left
        time_left = self.time_limit - self.reserve - elapsed
        if len(self.seconds) < 2:  # the first epoch warms up, so nothing is known before the second has ended
            return left if time_left > 0 else 0
        return max(0, min(left, int(time_left / self.epoch_seconds())))

    def expected(self, elapsed: float) -> int:
        """Epochs in all."""
        return self.done + self.remaining(elapsed)

    def epoch_seconds(self) -> float:
        """Seconds of a coming epoch: the median of the last five (an epoch that compiles is no measure), plus 2 %."""
        return 1.02 * statistics.median(self.seconds[1:][-5:])

    def step_size(self, elapsed: float) -> float:
        """Progress that the next epoch covers; 0 when none is to come."""
        left = self.remaining(elapsed)
        return (1 - self.progress) / left if left else 0.0

    def finish_epoch(self, covered: float, seconds: float) -> None:
        self.done += 1
        self.progress = min(1.0, self.progress + covered)
        self.seconds.append(seconds)


def stage_of(progress: float, first_stage: float) -> tuple[int, float]:
    """Stage (1 or 2) at this progress and how far it is itself; the first stage takes the share `first_stage`."""
    if progress < first_stage - 1e-9:
        return 1, progress / first_stage
    return 2, (progress - first_stage) / (1 - first_stage) if first_stage < 1 else 1.0


def rate_factor(shape: str, position: float) -> float:
    """Factor of the learning rate at `position` (0 to 1) of a stage: a short rise times a linear or cosine fall."""
    position = min(max(position, 0.0), 1.0)
    rise = min(1.0, (position + WARM_UP / 20) / WARM_UP)
    fall = 1 - position if shape == "linear" else 0.5 * (1 + math.cos(math.pi * position))
    return rise * fall
