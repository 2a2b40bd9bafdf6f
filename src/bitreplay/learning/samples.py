"""The samples of one experience: images that can be encoded, or latents.

Latents are what a strategy learns from: packed bits of a replay layer, features, or others. Images stay as they were
fitted, so that a strategy may encode them once, a few at a time, or augment them in each step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitreplay.learning.progress import Watch

Encode = Callable[[NDArray[np.uint8]], NDArray]
Chosen = NDArray[np.int64] | slice
LatentsOf = Callable[[Chosen], NDArray]
ENCODED_AT_ONCE = 32
MIN_PARTS = 10


@dataclass(frozen=True)
class Latents:
    values: NDArray

    @staticmethod
    def checked(values: NDArray, dtype: type, shape: tuple[int, ...]) -> Latents:
        """Latents of at least one sample, each of this shape; anything else raises a ValueError."""
        fits = isinstance(values, np.ndarray) and values.dtype == np.dtype(dtype) and values.ndim == len(shape) + 1
        if not fits or values.shape[1:] != shape or len(values) == 0:
            got = f"{values.dtype} {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
            raise ValueError(f"Latents must be {np.dtype(dtype)} of shape (n, *{shape}), got {got}.")
        return Latents(values)

    def __len__(self) -> int:
        return len(self.values)

    def latents(self, chosen: Chosen) -> NDArray:
        """Latents of chosen samples."""
        return self.values[chosen]

    def coded(self, watch: Watch) -> Latents:
        return self


@dataclass(frozen=True)
class Pictures:
    """`images` have the size that `encode` expects."""

    images: NDArray[np.uint8]
    encode: Encode

    def __len__(self) -> int:
        return len(self.images)

    def latents(self, chosen: Chosen) -> NDArray:
        return self.encode(self.images[chosen])

    def coded(self, watch: Watch) -> Latents:
        """All of them, encoded."""
        return Latents(encoded(self, range(len(self)), watch))


Samples = Pictures | Latents


def at_once(count: int) -> int:
    """How many images are encoded between two checks of the watch: fewer of few, so that a progress bar moves.

    >>> at_once(20), at_once(40), at_once(5000)
    (2, 4, 32)
    """
    return max(1, min(ENCODED_AT_ONCE, count // MIN_PARTS))


def encoded(samples: Samples, chosen: range, watch: Watch) -> NDArray:
    """Latents of consecutive samples, encoded a few at a time, so that this can be watched and stopped."""
    result: NDArray | None = None
    part = at_once(len(samples))
    for start in range(chosen.start, chosen.stop, part):
        watch.check()
        end = min(start + part, chosen.stop)
        latents = samples.latents(slice(start, end))
        if result is None:
            result = np.empty((len(chosen), *latents.shape[1:]), latents.dtype)
        result[start - chosen.start : end - chosen.start] = latents
        watch.report("pictures", end, len(samples))
    assert result is not None, "callers refuse an empty set of images"
    return result
