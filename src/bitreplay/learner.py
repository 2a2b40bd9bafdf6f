"""The method, BNN+LR+CWR*: a frozen binary backbone, 1-bit replay, an integer tail and a CWR* head.

    images -> backbone -> level code -> minibatch of new and replayed codes -> tail: forward, backward, update
                                    \\-> replay memory                          head: consolidated per experience

`Learner.learn` is the whole loop. Strategies: "replay" (the method), "cwr" (BNN+CWR*: only the head learns, no replay)
and "naive" (tail and head learn, no replay, no consolidation).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bitreplay.backbone import Backbone
from bitreplay.cwr_head import CwrHead
from bitreplay.engine.counter import key, random_bits
from bitreplay.replay import ReplayMemory
from bitreplay.tail import Tail

SHUFFLE = 0x5EED0003
Augment = Callable[[NDArray[np.uint8], int], NDArray[np.uint8]]


@dataclass(frozen=True)
class Settings:
    """How one experience is learned. `new` and `replayed` are the parts of a minibatch (1 : 4 in the paper)."""

    strategy: str = "replay"
    epochs: int = 5
    new: int = 32
    replayed: int = 128
    rate: Fraction = Fraction(1, 100)
    least_steps: int = 20
    seed: int = 0


class Learner:
    """Puts backbone, tail, head and memory together; class numbers are 0 .. capacity - 1."""

    def __init__(
        self, backbone: Backbone, tail: Tail, memory: ReplayMemory, settings: Settings | None = None,
        augment: Augment | None = None,
    ) -> None:  # fmt: skip
        self.backbone, self.tail, self.memory, self.augment = backbone, tail, memory, augment
        self.settings = settings or Settings()
        classes, columns = tail.head_weights.shape
        self.head = CwrHead(classes, columns - 1)
        self.experiences = 0

    def learn(self, images: NDArray[np.uint8], labels: NDArray[np.int32]) -> None:
        """One experience."""
        codes = self.backbone.latent_bits(images)
        present = self._counts(labels) + self._counts(self.memory.labels)
        self._begin(present)
        for epoch in range(self._epochs(len(labels))):
            for chosen in self._minibatches(len(labels), epoch):
                new = codes[chosen]
                if self.augment is not None:
                    new = self.backbone.latent_bits(self.augment(images[chosen], self.tail.steps))
                self.tail.step(*self._join(new, labels[chosen]), self.settings.rate)
        self._end(present)
        if self.settings.strategy == "replay":
            self.memory.update(codes, labels, self.experiences)
        self.experiences += 1

    def predict(self, images: NDArray[np.uint8]) -> NDArray[np.int64]:
        return self.predict_codes(self.backbone.latent_bits(images))

    def predict_codes(self, codes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Class numbers for level codes."""
        return self.tail.logits(codes).argmax(axis=1)

    def _begin(self, present: NDArray[np.int64]) -> None:
        if self.settings.strategy == "naive":
            self.tail.load_head(self.tail.head_weights, ((present > 0) | (self.head.past > 0)).astype(np.uint8))
        else:
            self.tail.load_head(self.head.begin_experience(present), (present > 0).astype(np.uint8))

    def _end(self, present: NDArray[np.int64]) -> None:
        if self.settings.strategy == "naive":
            self.head.past += present
        else:
            self.head.consolidate(self.tail.head_weights, present)
            self.tail.load_head(self.head.consolidated_weights, self.head.seen)

    def _join(self, codes: NDArray[np.uint64], labels: NDArray[np.int32]) -> tuple[NDArray, NDArray[np.int32]]:
        """New samples, and four times as many replayed ones once there are any."""
        if len(self.memory) == 0:
            return codes, labels
        old_codes, old_labels = self.memory.sample(self.settings.replayed)
        return np.concatenate([codes, old_codes]), np.concatenate([labels, old_labels])

    def _epochs(self, samples: int) -> int:
        """A small experience gets as many epochs as make `least_steps` steps."""
        steps = -(-samples // self.settings.new)
        return max(self.settings.epochs, -(-self.settings.least_steps // steps))

    def _minibatches(self, samples: int, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Sample numbers in a fresh order each epoch; the last minibatch may be short."""
        order_key = key(self.settings.seed, self.experiences << 32 | epoch, SHUFFLE)
        order = np.argsort(random_bits(order_key, np.arange(samples, dtype=np.uint32)), kind="stable")
        for start in range(0, samples, self.settings.new):
            yield order[start : start + self.settings.new]

    def _counts(self, labels: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.bincount(labels, minlength=len(self.head.past)).astype(np.int64)

    def state_hash(self) -> str:
        """sha256 of everything that learning changes."""
        parts = (self.tail.parameters, self.head.consolidated_weights, self.head.past, self.memory.codes,
                 self.memory.labels)  # fmt: skip
        digest = hashlib.sha256()
        for part in parts:
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()
