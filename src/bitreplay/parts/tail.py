"""The trainable part of the network: latents -> logits; one call is one step of learning.

A tail holds the learned parameters in its machine's parameter region: gamma, beta and so on, and the head's weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import minibatch_parts
from bitreplay.engine.arithmetic.fixedpoint import Multiplier
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail
from bitreplay.engine.footprint import Footprint
from bitreplay.engine.graph import Graph
from bitreplay.engine.machine_pool import Arenas
from bitreplay.engine.memory_limit import check_room
from bitreplay.engine.native import machine
from bitreplay.engine.operations import Run
from bitreplay.learning.rates import feature_power
from bitreplay.parts.part import ArrayState, Names, PartState, with_rows

Logits = Callable[[NDArray[np.uint64]], NDArray]
ANSWERED_AT_ONCE = 32  # of the samples that an arena has room for: what is not touched costs nothing


class TailLike(Protocol):
    """What the loop needs of a tail: `Tail`, or its twin in floating point (bitreplay.torch.twin.float_learner)."""

    steps: int
    feature_power: Fraction

    @property
    def head_weights(self) -> NDArray[np.int32]: ...
    def load_head(self, weights: NDArray[np.int32], active: NDArray[np.uint8]) -> None: ...
    def step(self, latents: NDArray[np.uint64], labels: NDArray[np.int32], rate: Any) -> NDArray[np.int32]: ...
    def answering(self) -> Logits: ...
    def resized(self, classes: int) -> Any: ...
    def state_dict(self) -> ArrayState: ...
    def fits(self, state: PartState) -> bool: ...
    def load_state_dict(self, state: PartState) -> None: ...


class Tail:
    """A part (part.py): the layers above the replay layer.

    `train` is "tail" (all of them learn) or "head" (only the last one, as in BNN+CWR*). With `micro_batch_size`, a
    minibatch passes twice in parts of so many samples: the same bits in less memory.
    """

    version: ClassVar[int] = 1
    counters: ClassVar[tuple[str, ...]] = ("steps",)

    def __init__(
        self, graph: Graph, replay_layer: str, bits: Bits, classes: int, max_samples: int, *, latent_bits: int = 1,
        train: str = "tail", seed: int = 0, micro_batch_size: int | None = None,
    ) -> None:  # fmt: skip
        self._snapshot = micro_batch_size is None or micro_batch_size >= max_samples
        at_once = max_samples if micro_batch_size is None else min(micro_batch_size, max_samples)
        self.program = compile_tail(
            graph, replay_layer, bits, at_once, classes, latent_bits, train=train, in_parts=not self._snapshot
        )
        self.parts_bytes = 0 if self._snapshot else minibatch_parts.work_bytes(self.program)
        check_room(self.program)
        self._resize = partial(
            Tail,
            graph,
            replay_layer,
            bits,
            max_samples=max_samples,
            latent_bits=latent_bits,
            train=train,
            seed=seed,
            micro_batch_size=micro_batch_size,
        )
        self._machine = machine(self.program)
        self._head = f"{graph.nodes[-1].name}.weights"
        self._active = f"{graph.nodes[-1].name}.active"
        self.feature_power = feature_power(graph, self.head_weights.shape[1] - 1)
        self.seed = seed
        self.steps = 0
        self._arenas: Arenas | None = None

    @property
    def footprint(self) -> Footprint:
        """Its memory; what answers has an arena and parameters of its own."""
        return self._machine.footprint

    @property
    def head_weights(self) -> NDArray[np.int32]:
        """(classes, features + 1), the bias last."""
        return self._machine.read(self._head)

    def load_head(self, weights: NDArray[np.int32], active: NDArray[np.uint8]) -> None:
        """Set the head and the classes that take part."""
        self._machine.write(self._head, weights)
        self._machine.write(self._active, active)
        self._machine.run("prepare", Run(1))

    def step(self, latents: NDArray[np.uint64], labels: NDArray[np.int32], rate: Any) -> NDArray[np.int32]:
        """Learn from one minibatch at a rate, a Multiplier or a fraction. Returns each sample's probability of its
        label, with 30 fractional bits."""
        multiplier = rate if isinstance(rate, Multiplier) else Multiplier.of(Fraction(rate))
        if len(latents) != len(labels):
            raise ValueError(f"There must be as many labels as latents, got {len(labels)} and {len(latents)}.")
        run = Run(len(latents), self.seed, self.steps, multiplier.mantissa, multiplier.shift)
        logits = self._step(latents, labels, run) if self._snapshot else self._step_in_parts(latents, labels, run)
        self.steps += 1
        return logits

    def _step(self, latents: NDArray[np.uint64], labels: NDArray[np.int32], run: Run) -> NDArray[np.int32]:
        self._fill(latents, labels)
        self._machine.run_step(run)
        return self._machine.read("p_label", len(latents))

    def _step_in_parts(self, latents: NDArray[np.uint64], labels: NDArray[np.int32], run: Run) -> NDArray[np.int32]:
        """The same bits in the arena of a part, which every part passes twice."""
        size = self.program.max_samples
        parts = [slice(start, start + size) for start in range(0, len(latents), size)]
        self._machine.begin_parts()
        for part in parts:
            self._fill(latents[part], labels[part])
            self._machine.measure(replace(run, samples=len(latents[part])))
        logits = []
        for part in parts:
            self._fill(latents[part], labels[part])
            self._machine.gather(replace(run, samples=len(latents[part])), run.samples)
            logits.append(self._machine.read("p_label", len(latents[part])))
        self._machine.end_parts(run)
        return np.concatenate(logits)

    def _fill(self, latents: NDArray[np.uint64], labels: NDArray[np.int32]) -> None:
        self._machine.write("latents", latents)
        self._machine.write("labels", labels)

    def answering(self) -> Logits:
        """Logits as of now, whatever is learned later: 16 bits behind the point, the lowest int32 for classes that are
        not active. Any number of threads may ask."""
        self._arenas = self._arenas or Arenas(self._machine.sibling())
        return partial(_logits, self._arenas, self._machine.snapshot())

    def resized(self, classes: int) -> Tail:
        """The same tail with room for another number of classes."""
        other = self._resize(classes=classes)
        tensors = self.tensors()
        for name in (self._head, self._active):
            tensors[name] = with_rows(tensors[name], classes)
        other.load_state_dict(ArrayState(tensors, {"steps": self.steps}))
        return other

    def tensors(self) -> dict[str, NDArray]:
        """Copies of all learned tensors, as they are saved."""
        return {t.name: self._machine.read(t.name) for t in self.program.tensors if t.region == "parameter"}

    @classmethod
    def read(cls, content: ArrayState, names: Names) -> ArrayState:
        """Only its model knows what a tail's tensors must be: see `fits`."""
        return content

    def state_dict(self) -> ArrayState:
        return ArrayState(self.tensors(), {"steps": self.steps})

    def fits(self, state: PartState) -> bool:
        return same_kind(state, self.tensors())

    def load_state_dict(self, state: PartState) -> None:
        """Go back to this state."""
        for name, values in state.arrays.items():
            self._machine.write(name, values)
        self._machine.run("prepare", Run(1))
        self.steps = state.counters["steps"]


def same_kind(state: PartState, tensors: dict[str, NDArray]) -> bool:
    """Whether names, types and shapes are equal."""
    got, expected = (
        {name: (values.dtype, values.shape) for name, values in arrays.items()} for arrays in (state.arrays, tensors)
    )
    return got == expected


def _logits(arenas: Arenas, parameters: NDArray[np.uint8], latents: NDArray[np.uint64]) -> NDArray[np.int32]:
    if len(latents) == 0:
        raise ValueError("There must be at least one latent, got an empty array.")
    logits = []
    start = 0
    while start < len(latents):
        arena = arenas.lend()
        with arena.lock:
            network = arena.machine
            part = latents[start : start + min(ANSWERED_AT_ONCE, network.program.max_samples)]
            network.adopt(parameters)
            network.write("latents", part)
            network.run("forward", Run(len(part)))
            logits.append(network.read("logits", len(part)))
        start += len(part)
    return np.concatenate(logits)
