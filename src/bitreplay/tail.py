"""The trainable part of the network: level codes -> logits; one call is one step of learning.

A tail holds the learned parameters in its machine's parameter region: gamma, beta and so on, and the head's weights.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.compile import compile_tail
from bitreplay.engine.compiler import Bits
from bitreplay.engine.fixedpoint import Multiplier
from bitreplay.engine.graph import Graph
from bitreplay.engine.native import machine
from bitreplay.engine.operations import Run
from bitreplay.rates import feature_power
from bitreplay.room import check_room


class Tail:
    """`train` is "tail" (everything above the level learns) or "head" (only the last layer, as in BNN+CWR*)."""

    def __init__(
        self, graph: Graph, level: str, bits: Bits, classes: int, max_samples: int, *, code_bits: int = 1,
        train: str = "tail", seed: int = 0,
    ) -> None:  # fmt: skip
        self.program = compile_tail(graph, level, bits, max_samples, classes, code_bits, train=train)
        check_room(self.program)
        self._resize = partial(
            Tail, graph, level, bits, max_samples=max_samples, code_bits=code_bits, train=train, seed=seed
        )
        self._machine = machine(self.program)
        self._head = f"{graph.nodes[-1].name}.weights"
        self._active = f"{graph.nodes[-1].name}.active"
        self.feature_power = feature_power(graph, self.head_weights.shape[1] - 1)
        self.seed = seed
        self.steps = 0

    @property
    def head_weights(self) -> NDArray[np.int32]:
        """(classes, features + 1), the bias last."""
        return self._machine.read(self._head)

    def load_head(self, weights: NDArray[np.int32], active: NDArray[np.uint8]) -> None:
        """Set the head and the classes that take part."""
        self._machine.write(self._head, weights)
        self._machine.write(self._active, active)
        self._machine.run("prepare", Run(1))

    def step(self, codes: NDArray[np.uint64], labels: NDArray[np.int32], rate: Fraction) -> NDArray[np.int32]:
        """Learn from one minibatch. Returns each sample's probability of its label, 30 bits behind the point."""
        multiplier = Multiplier.of(Fraction(rate))
        self._machine.write("latents", codes)
        self._machine.write("labels", labels)
        if len(codes) != len(labels):
            raise ValueError(f"There must be as many labels as codes, got {len(labels)} and {len(codes)}.")
        self._machine.run_step(Run(len(codes), self.seed, self.steps, multiplier.mantissa, multiplier.shift))
        self.steps += 1
        return self._machine.read("p_label", len(codes))

    def logits(self, codes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """16 bits behind the point; the lowest int32 for classes that are not active."""
        if len(codes) == 0:
            raise ValueError("There are no codes: got an array of none.")
        found = []
        for start in range(0, len(codes), self.program.max_samples):
            part = codes[start : start + self.program.max_samples]
            self._machine.write("latents", part)
            self._machine.run("forward", Run(len(part)))
            found.append(self._machine.read("logits", len(part)))
        return np.concatenate(found)

    def resized(self, classes: int) -> Tail:
        """The same tail with room for another number of classes."""
        other = self._resize(classes=classes)
        tensors = self.tensors()
        for name in (self._head, self._active):
            tensors[name] = with_rows(tensors[name], classes)
        other.restore(tensors, self.steps)
        return other

    def tensors(self) -> dict[str, NDArray]:
        """Copies of all learned tensors, as they are saved."""
        return {t.name: self._machine.read(t.name) for t in self.program.tensors if t.region == "parameter"}

    def restore(self, tensors: dict[str, NDArray], steps: int) -> None:
        """Go back to what `tensors()` and `steps` were."""
        for name, values in tensors.items():
            self._machine.write(name, values)
        self._machine.run("prepare", Run(1))
        self.steps = steps

    @property
    def parameters(self) -> NDArray[np.uint8]:
        """All learned bytes, as they are hashed and saved."""
        return self._machine.regions["parameter"]


def with_rows(array: NDArray, rows: int) -> NDArray:
    """The first `rows` rows, zeros where there are no more."""
    result = np.zeros((rows, *array.shape[1:]), array.dtype)
    result[: len(array)] = array[:rows]
    return result
