"""CWR*: a head trained per experience and consolidated per class, in integers.

Weights are int32 with the bias as the last column, in the engine's master format.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import native_method
from bitreplay.parts.part import MAX_COUNTER, ArrayState, Names, PartState, array_of, between, need, only, with_rows


class CwrHead:
    """Classifier trained per experience and consolidated per class.

    Train on temporary weights tw, predict with `consolidated_weights` cw. After an experience, a class c seen n_past
    times before and n_now times now becomes
        cw[c] <- (cw[c] r + (tw[c] - m)) / (r + 1),   r = sqrt(n_past / n_now),
    m one scalar, the mean of all tw weights of the classes present. Absent classes keep their weights. How this is
    rounded says engine/method.py.
    """

    version: ClassVar[int] = 1
    counters: ClassVar[tuple[str, ...]] = ()

    def __init__(self, classes: int, features: int) -> None:
        self.consolidated_weights = np.zeros((classes, features + 1), np.int32)
        self.past = np.zeros(classes, np.int64)

    @property
    def seen(self) -> NDArray[np.uint8]:
        """1 for each class that has been consolidated."""
        return (self.past > 0).astype(np.uint8)

    def resize(self, classes: int) -> None:
        """Make room for more classes, or for fewer: the last ones go."""
        self.consolidated_weights = with_rows(self.consolidated_weights, classes)
        self.past = with_rows(self.past, classes)

    def forget(self, c: int) -> None:
        """Become the head that never saw the class."""
        self.consolidated_weights[c] = 0
        self.past[c] = 0

    @classmethod
    def read(cls, content: ArrayState, names: Names) -> ArrayState:
        only(content, "head", "consolidated_weights", "past")
        weights = array_of(content, "head", "consolidated_weights", np.int32, 2)
        past = array_of(content, "head", "past", np.int64, 1)
        named = {number for number, name in enumerate(names) if name is not None}
        fits = len(weights) == len(past) >= len(names) and set(np.flatnonzero(past).tolist()) <= named
        need(fits and between(past, 0, MAX_COUNTER), "Its head does not fit its names.")
        return content

    def state_dict(self) -> ArrayState:
        return ArrayState({"consolidated_weights": self.consolidated_weights.copy(), "past": self.past.copy()})

    def fits(self, state: PartState) -> bool:
        return state.arrays["consolidated_weights"].shape[1] == self.consolidated_weights.shape[1]

    def load_state_dict(self, state: PartState) -> None:
        """Go back to this state, also with room for another number of classes."""
        self.consolidated_weights = state.arrays["consolidated_weights"].copy()
        self.past = state.arrays["past"].copy()

    def begin_experience(self, present: NDArray[np.int64]) -> NDArray[np.int32]:
        """Temporary weights: cw of the classes present (count > 0), 0 elsewhere."""
        self._check(present)
        return np.where((present > 0)[:, None], self.consolidated_weights, 0).astype(np.int32)

    def consolidate(self, temporary_weights: NDArray[np.int32], present: NDArray[np.int64]) -> None:
        """Merge the trained weights; `present` counts the distinct new and stored samples of each class."""
        self._check(present)
        if temporary_weights.shape != self.consolidated_weights.shape or temporary_weights.dtype != np.int32:
            got = f"{temporary_weights.dtype} {temporary_weights.shape}"
            raise ValueError(f"Weights must be int32 {self.consolidated_weights.shape}, got {got}.")
        native_method.consolidate(self.consolidated_weights, temporary_weights, self.past, present)

    def count(self, present: NDArray[np.int64]) -> None:
        """Count the samples as seen, without changing weights."""
        self._check(present)
        self.past += present

    def _check(self, present: NDArray[np.int64]) -> None:
        if present.shape != self.past.shape or present.dtype.kind not in "iu" or present.min(initial=0) < 0:
            raise ValueError(
                f"There must be a count for each of {len(self.past)} classes, got {present.dtype} {present.shape}."
            )
        if not present.any():
            raise ValueError("An experience needs at least one sample of one class.")
