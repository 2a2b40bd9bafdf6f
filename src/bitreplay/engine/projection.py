"""A fixed projection: d features x -> k components y, int8 in [-127, 127] (docs/law.md section 13).

    y_i = saturate(round_shift(scale_i sum_j axis_ij x_j + offset_i, shift), -127, 127)

Axes are rows of int8, the most telling first, so that the first k of them are a projection too. They are found once,
on a host, on pictures of the pre-training (zoo/principal_axes.py), and never learned. In a program it is two records:
`integer_conv` over one pixel and `affine`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import LARGEST_SHIFT, round_shift, saturate, wide
from bitreplay.engine.builder import Builder
from bitreplay.engine.program import ProgramError
from bitreplay.engine.sums import LARGEST, MAX_FEATURES

MAX_OFFSET = 1 << 60


@dataclass(frozen=True)
class Projection:
    """A projection of d features to k components.

    `feature_layers` are the layers that it reads; `axes` int8 (k, d), `scales` int32 (k,), `offsets` int64 (k,).
    """

    feature_layers: str
    axes: NDArray[np.int8]
    scales: NDArray[np.int32]
    offsets: NDArray[np.int64]
    shift: int

    def __post_init__(self) -> None:
        """|axis . x| <= 127^2 * 8192 < 2^27, times a scale below 2^31 and with an offset up to 2^60: below 2^61."""
        k = len(self.scales)
        kinds = self.axes.dtype == np.int8, self.scales.dtype == np.int32, self.offsets.dtype == np.int64
        if not all(kinds) or self.axes.ndim != 2 or len(self.axes) != k or self.offsets.shape != (k,):
            raise ValueError("a projection has int8 axes, and for each an int32 scale and an int64 offset")
        if not 1 <= k <= self.axes.shape[1] <= MAX_FEATURES:
            raise ValueError(f"a projection has 1 to d axes of d <= {MAX_FEATURES} features, got {self.axes.shape}")
        if self.axes.min() < -LARGEST or self.scales.min() < 0 or not 0 <= self.shift <= LARGEST_SHIFT:
            raise ValueError("a projection has axes in [-127, 127], scales of at least 0 and a shift of 0 to 62")
        if self.offsets.min() < -MAX_OFFSET or self.offsets.max() > MAX_OFFSET:
            raise ValueError("a projection has offsets of at most 2^60")

    def __len__(self) -> int:
        return len(self.axes)

    def first(self, axes: int) -> Projection:
        return Projection(self.feature_layers, self.axes[:axes], self.scales[:axes], self.offsets[:axes], self.shift)

    @property
    def bytes(self) -> int:
        return self.axes.nbytes + self.scales.nbytes + self.offsets.nbytes

    def digest(self) -> str:
        """SHA-256 of all that decides y, in this order and little-endian; states name it."""
        sha = hashlib.sha256(f"{self.feature_layers}\n{len(self)} {self.axes.shape[1]} {self.shift}\n".encode())
        for array in (self.axes, self.scales, self.offsets):
            sha.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
        return sha.hexdigest()

    def of(self, x: NDArray[np.int8]) -> NDArray[np.int8]:
        """The reference: (pictures, d) -> (pictures, k)."""
        total = wide(x) @ wide(self.axes).T * wide(self.scales) + self.offsets
        return saturate(round_shift(total, self.shift), -LARGEST, LARGEST).astype(np.int8)


def emit(builder: Builder, x: int, projection: Projection, name: str) -> int:
    """The records; `x` is a tensor of (1, 1, d) int8, what comes out, `name`, is (1, 1, k) int8."""
    k, d = projection.axes.shape
    if builder.tensors[x].shape != (1, 1, d):
        raise ProgramError(f"the projection reads {d} features, and there are {builder.tensors[x].shape[-1]}")
    products = builder.buffer("projection.products", np.int32, (1, 1, k))
    axes = builder.constant("projection.axes", projection.axes.reshape(k, 1, 1, d))
    builder.emit("forward", "integer_conv", {"x": x, "w": axes, "sums": products}, x_zero=0, stride=1, pad=0, down=0)
    y = builder.buffer(name, np.int8, (1, 1, k))
    saturated = builder.hold(builder.buffer("projection.saturated", np.int64, (1,), per_sample=False))
    scales = builder.constant("projection.scales", projection.scales)
    offsets = builder.constant("projection.offsets", projection.offsets)
    tensors = {"x": products, "a": scales, "b": offsets, "y": y, "saturated": saturated}
    builder.emit("forward", "affine", tensors, x_zero=0, shift=projection.shift, y_zero=0, low=-LARGEST, high=LARGEST,
                 residual_zero=0, residual_factor=0)  # fmt: skip
    return y
