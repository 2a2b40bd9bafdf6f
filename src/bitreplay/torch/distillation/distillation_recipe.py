"""Every setting of a distillation without labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bitreplay.torch.pretraining.augmentation import Augmentation

LIMITS = (
    ("teacher_size", 32, 512),
    ("views", 1, 10**12),
    ("judged_views", 1, 10**9),
    ("time_limit", 1, 10**7),
    ("minibatch", 2, 65536),
    ("rate", 1e-7, 1.0),
    ("fall", 0.0, 1.0),
    ("weight_decay", 0.0, 10.0),
    ("match", 0.0, 100.0),
    ("whiten", 0.0, 1000.0),
    ("least_area", 0.01, 1.0),
    ("jitter", 0.0, 1.0),
    ("mix", 0.0, 1.0),
    ("cut", 0.0, 1.0),
    ("rounding", 0.0, 1.0),
    ("average", 0, 10**6),
)


@dataclass(frozen=True)
class DistillationRecipe:
    """A run ends after `views` views or `time_limit` seconds, whichever is first. The learning rate rises for 200
    steps to `rate`, stays there, and falls linearly to 0 in the share `fall` at the end; in the share `rounding` at the
    end the engine's rounding is in the loop.

    The loss of a view is the divergence of the network's 1,000 probabilities from the teacher's, and `match` times
    1 - cos of a linear projection of its features and the teacher's. With `whiten` e, the teacher's features are
    multiplied by (C + e m)^-1/2 first, C being their covariance over pictures of the pool and m the mean of its
    diagonal: the metric in which `exact` compares pictures when it has seen few (e = 1).

    Views are crops of at least `least_area`, with colours changed by `jitter`; a share `mix` is blended with another
    view, in a share `cut` a box of it is pasted.
    The teacher reads them at `teacher_size`. It judges the first `judged_views` alone, by default every one: its
    outputs stay on the device, and the run goes round these views, mirrored in every second round.

    `average` is the horizon, in steps, of a running average of the weights, which is kept where it agrees better with
    the teacher on pictures set aside.
    """

    teacher: str = "efficientnet-lite2"
    teacher_size: int = 192
    views: int = 20_000_000
    judged_views: int | None = None
    time_limit: float | None = None
    minibatch: int = 1024
    rate: float = 1.2e-3
    fall: float = 0.4
    weight_decay: float = 0.02
    match: float = 3.0
    whiten: float | None = None
    least_area: float = 0.25
    jitter: float = 0.2
    mix: float = 0.15
    cut: float = 0.15
    rounding: float = 0.08
    average: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        for name, low, high in LIMITS:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name} is {value}; expected a number from {low} to {high}.")

    def augmentation(self) -> Augmentation:
        return Augmentation(self.least_area, self.jitter, self.mix, self.cut)

    def rate_at(self, step: int, progress: float) -> float:
        """The learning rate of a step, `progress` (0 to 1) of the way."""
        rise = min(1.0, (step + 1) / 200)
        return self.rate * rise * min(1.0, (1 - min(progress, 1.0)) / self.fall if self.fall else 1.0)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
