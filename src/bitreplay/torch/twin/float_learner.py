"""The float setting of the learner: the same loop, memory and head, with the tail in floating point.

`FloatStepper` has the interface of bitreplay.parts.tail.Tail, so that Learner takes either. Only the tail's arithmetic
differs: the head's weights cross the border as the integers that CWR* consolidates (28 bits behind the point).
"""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from bitreplay.engine.graph import Graph
from bitreplay.learning.rates import feature_power
from bitreplay.parts.part import ArrayState, PartState, with_rows
from bitreplay.parts.tail import Logits, same_kind
from bitreplay.torch.twin.float_tail import FloatTail

MASTER_POINT = 28
LIMIT = 2**31 - 1


class FloatStepper:
    """Plain SGD on a FloatTail; `train` is "tail" or "head" as in Tail."""

    version: ClassVar[int] = 1
    counters: ClassVar[tuple[str, ...]] = ("steps",)

    def __init__(
        self,
        graph: Graph,
        replay_layer: str,
        classes: int,
        *,
        latent_bits: int = 1,
        train: str = "tail",
        device: str = "cpu",
    ) -> None:
        self._resize = partial(FloatStepper, graph, replay_layer, latent_bits=latent_bits, train=train, device=device)
        self.net = FloatTail(graph, replay_layer, classes, latent_bits).to(device)
        self.learned = list(self.net.parameters() if train == "tail" else self.net.head.parameters())
        self.feature_power = feature_power(graph, self.head_weights.shape[1] - 1)
        self.steps = 0

    @property
    def head_weights(self) -> NDArray[np.int32]:
        head = self.net.head
        columns = torch.cat([head.weight, head.bias[:, None]], dim=1).detach().cpu().double().numpy()
        return np.clip(np.rint(columns * 2.0**MASTER_POINT), -LIMIT, LIMIT).astype(np.int32)

    def load_head(self, weights: NDArray[np.int32], active: NDArray[np.uint8]) -> None:
        real = torch.from_numpy(weights * 2.0**-MASTER_POINT).to(self.net.head.weight)
        with torch.no_grad():
            self.net.head.weight.copy_(real[:, :-1])
            self.net.head.bias.copy_(real[:, -1])
            self.net.active.copy_(torch.from_numpy(active > 0))

    def step(self, latents: NDArray[np.uint64], labels: NDArray[np.int32], rate: Fraction) -> NDArray[np.int32]:
        """One minibatch. Returns each sample's probability of its label before the step, 30 bits behind the point."""
        logits = self.net(latents)
        targets = torch.from_numpy(labels.astype(np.int64)).to(logits.device)
        loss = torch.nn.functional.cross_entropy(logits, targets)
        gradients = torch.autograd.grad(loss, self.learned)
        with torch.no_grad():
            for parameter, gradient in zip(self.learned, gradients, strict=True):
                parameter.sub_(gradient, alpha=float(rate))
            probability = logits.softmax(dim=1).gather(1, targets[:, None])[:, 0]
        self.steps += 1
        return (probability * 2.0**30).cpu().numpy().astype(np.int32)

    def answering(self) -> Logits:
        """Logits as of now, from a copy of the network."""
        return partial(_logits, deepcopy(self.net))

    def resized(self, classes: int) -> FloatStepper:
        """The same tail with room for another number of classes."""
        other = self._resize(classes=classes)
        tensors = self.tensors()
        for name in ("head.weight", "head.bias", "active"):
            tensors[name] = with_rows(tensors[name], classes)
        other.load_state_dict(ArrayState(tensors, {"steps": self.steps}))
        return other

    def tensors(self) -> dict[str, NDArray]:
        """All learned tensors; float32 as its 32 bits, since files of states hold integers only."""
        bits = {name: p.detach().cpu().numpy().copy().view(np.int32) for name, p in self.net.named_parameters()}
        return bits | {"active": self.net.active.cpu().numpy().astype(np.uint8)}

    def state_dict(self) -> ArrayState:
        return ArrayState(self.tensors(), {"steps": self.steps})

    def fits(self, given: PartState) -> bool:
        return same_kind(given, self.tensors())

    def load_state_dict(self, given: PartState) -> None:
        """Go back to what was given."""
        with torch.no_grad():
            for name, parameter in self.net.named_parameters():
                real = np.array(given.arrays[name], order="C").view(np.float32)
                parameter.copy_(torch.from_numpy(real))
            self.net.active.copy_(torch.from_numpy(given.arrays["active"] > 0))
        self.steps = given.counters["steps"]


def _logits(net: FloatTail, latents: NDArray[np.uint64]) -> NDArray[np.float32]:
    with torch.no_grad():
        return np.concatenate([net(part).cpu().numpy() for part in np.array_split(latents, -(-len(latents) // 500))])
