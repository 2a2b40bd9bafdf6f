"""The progress of a pre-training run: a Step after every minibatch, a Report after every epoch."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass
class EpochStatistics:
    """Sums over the minibatches of an epoch so far, on the device: reading a number waits for it, adding does not."""

    device: torch.device
    steps: int = 0
    seen: int = 0
    losses: Tensor = field(init=False)
    right: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.losses, self.right = torch.zeros((), device=self.device), torch.zeros((), device=self.device)

    def add(self, loss: Tensor, logits: Tensor, labels: Tensor) -> None:
        self.losses += loss.detach()
        self.right += (logits.detach().argmax(1) == labels).sum()
        self.steps += 1
        self.seen += len(labels)

    def loss(self) -> float:
        """Mean over the minibatches."""
        return self.losses.item() / max(1, self.steps)

    def accuracy(self) -> float:
        """Right answers on the augmented views, in percent."""
        return 100 * self.right.item() / max(1, self.seen)


@dataclass(frozen=True)
class Step:
    """Minibatch `step` of `steps` in an epoch has passed; `statistics` goes on counting until the epoch ends."""

    epoch: int
    expected: int
    step: int
    steps: int
    stage: int
    statistics: EpochStatistics


@dataclass(frozen=True)
class Report:
    """One epoch: its number, how many are expected in all, stage, last learning rate, mean loss and accuracy on the
    training views, validation top-1 (both in percent), its seconds, and the seconds since the start."""

    epoch: int
    expected: int
    stage: int
    rate: float
    loss: float
    accuracy: float
    top1: float
    seconds: float
    elapsed: float

    def line(self) -> str:
        left = (self.expected - self.epoch) * self.seconds
        return (
            f"epoch {self.epoch}/{self.expected} stage {self.stage} rate {self.rate:.2e} loss {self.loss:.4f} "
            f"accuracy {self.accuracy:.2f} % top1 {self.top1:.2f} % {self.seconds:.1f} s, "
            f"{self.elapsed:.0f} s so far, about {left:.0f} s left"
        )
