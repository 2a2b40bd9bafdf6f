"""The method, BNN+LR+CWR*: tail and head learn from new and replayed 1-bit latents; the head is consolidated."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.samples import LatentsOf
from bitreplay.state import State
from bitreplay.strategies.gradient import Gradient


class Replay(Gradient):
    name: ClassVar[str] = "replay"
    title: ClassVar[str] = "1-bit replay"
    stores_samples: ClassVar[bool] = True
    refuses: ClassVar[bool] = True
    gain: ClassVar[Fraction] = Fraction(40)
    eased: ClassVar[bool] = True

    def join(self, latents: NDArray[np.uint64], labels: NDArray[np.int32]) -> tuple[NDArray, NDArray[np.int32]]:
        """New samples and, once there are any, replayed ones in their proportion, also in a short minibatch."""
        if len(self.memory) == 0:
            return latents, labels
        count = -(-self.settings.replay_batch_size * len(latents) // self.settings.batch_size)
        old_codes, old_labels = self.memory.sample(count)
        return np.concatenate([latents, old_codes]), np.concatenate([labels, old_labels])

    def keep(self, plain: LatentsOf, labels: NDArray[np.int32]) -> None:
        self.memory.update(plain, labels, self.experiences)

    @classmethod
    def pictures(cls, state: State) -> int:
        return sum(kept.seen for kept in cls.stored(state))
