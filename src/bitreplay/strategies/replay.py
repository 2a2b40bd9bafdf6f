"""The method, BNN+LR+CWR*: tail and head learn from new and replayed 1-bit latents; the head is consolidated."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import native_method
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.learning.rates import feature_power
from bitreplay.learning.samples import LatentsOf
from bitreplay.parts.part import need
from bitreplay.parts.state import State
from bitreplay.strategies.gradient import FIRST_ROOM, Gradient, room_for
from bitreplay.strategies.requirements import DevicePrograms
from bitreplay.strategies.strategy import StrategyContext

MAX_DEVICE_TAILS = 8


class Replay(Gradient):
    name: ClassVar[str] = "replay"
    title: ClassVar[str] = "1-bit replay"
    stores_samples: ClassVar[bool] = True
    refuses: ClassVar[bool] = True
    gain: ClassVar[Fraction] = Fraction(40)
    eased: ClassVar[bool] = True
    proposed: ClassVar[bool] = True
    c_learner: ClassVar[str | None] = "replay"
    exported_settings: ClassVar[tuple[str, ...]] = ("bits", "batch_size", "replay_batch_size", "memory_per_class")

    def join(self, latents: NDArray[np.uint64], labels: NDArray[np.int32]) -> tuple[NDArray, NDArray[np.int32]]:
        """New samples and, once there are any, replayed ones in their proportion, also in a short minibatch."""
        if len(self.memory) == 0:
            return latents, labels
        count = native_method.replayed(len(latents), self.settings.batch_size, self.settings.replay_batch_size)
        old_codes, old_labels = self.memory.sample(count)
        return np.concatenate([latents, old_codes]), np.concatenate([labels, old_labels])

    def keep(self, plain: LatentsOf, labels: NDArray[np.int32]) -> None:
        self.memory.update(plain, labels, self.experiences)

    @classmethod
    def device_programs(cls, context: StrategyContext, classes: int) -> DevicePrograms:
        """The backbone of one image, and a tail for each room that this many classes grow to."""
        settings, graph = context.settings, context.graph
        assert isinstance(settings.bits, Bits)
        need(not settings.augment, "The learner in C does not augment images: export with augment=False.")
        need(not settings.unknown, "The learner in C does not compare with stored samples: export with unknown=0.")
        limit = FIRST_ROOM << (MAX_DEVICE_TAILS - 1)
        need(1 <= classes <= limit, f"classes must be an integer from 1 to {limit}, got {classes}.")
        layer, bits, latent_bits = context.replay_layer, settings.bits, settings.latent_bits
        programs = {"backbone": compile_backbone(graph, layer, bits, 1, latent_bits)}
        for number in range((room_for(classes) // FIRST_ROOM).bit_length()):
            tail = compile_tail(graph, layer, bits, settings.minibatch_size, FIRST_ROOM << number, latent_bits)
            programs[f"tail{number}"] = tail
        features = tail.tensor(f"{graph.nodes[-1].name}.weights").shape[1] - 1
        rate = cls.gain / feature_power(graph, features)
        return DevicePrograms(programs, {"rate": str(rate).encode()})

    @classmethod
    def pictures(cls, state: State) -> int:
        return sum(kept.seen for kept in cls.stored(state))
