"""A fixed projection: d features x -> k components y, int8 in [-127, 127] (docs/law.md section 13).

    y_i = saturate(round_shift(scale_i sum_j axis_ij x'_j + offset_i, shift), -127, 127)
    x'  = x, or its root: the integer nearest to sqrt(64 (x + 127))

Axes are rows of int8, the most telling first, so that the first k of them are a projection too. They are found once,
on a host, on pictures of the pre-training (zoo/principal_axes.py, zoo/prior_axes.py), and never learned. A projection
also says how the discriminant of y is shrunk (shrinkage.py).

In a program it is two records: `integer_conv` over one pixel and `affine`. The root is two more before them: its bytes
through `image_table`, whose int16 `concat` stores as int8.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.arithmetic.fixedpoint import LARGEST_SHIFT, Multiplier, round_shift, saturate, wide
from bitreplay.engine.builder import Builder
from bitreplay.engine.program import ProgramError
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.sums import LARGEST, MAX_FEATURES

MAX_OFFSET = 1 << 60


def root_of(x: int) -> int:
    """The integer nearest to sqrt(64 (x + 127)): 0 to 127 for x in [-127, 127].

    >>> [root_of(x) for x in (-127, -126, 0, 126, 127)]
    [0, 8, 90, 127, 127]
    """
    return (isqrt(4 * 64 * (x + LARGEST)) + 1) // 2


# By the byte of x: those of -127 to -1 come last. There is no -128, whose byte has the root of -127.
ROOTS = np.array([root_of(max(x, -LARGEST)) for x in (*range(128), *range(-128, 0))], np.int16)


@dataclass(frozen=True)
class Projection:
    """A projection of d features to k components.

    `feature_layers` are the layers that it reads; `axes` int8 (k, d), `scales` int32 (k,), `offsets` int64 (k,). With
    `root` it reads the features' roots; `shrinkage` belongs to the discriminant of what it yields.
    """

    feature_layers: str
    axes: NDArray[np.int8]
    scales: NDArray[np.int32]
    offsets: NDArray[np.int64]
    shift: int
    root: bool = False
    shrinkage: Shrinkage = EXACT

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
        return replace(self, axes=self.axes[:axes], scales=self.scales[:axes], offsets=self.offsets[:axes])

    @property
    def bytes(self) -> int:
        return self.axes.nbytes + self.scales.nbytes + self.offsets.nbytes

    def digest(self) -> str:
        """SHA-256 of all that decides y and the answers, in this order and little-endian; states name it. The third
        line is left out where there is no root and the shrinkage is that of other features."""
        text = f"{self.feature_layers}\n{len(self)} {self.axes.shape[1]} {self.shift}\n"
        if self.root or self.shrinkage != EXACT:
            text += " ".join(map(str, (int(self.root), *self.shrinkage.terms))) + "\n"
        sha = hashlib.sha256(text.encode())
        for array in (self.axes, self.scales, self.offsets):
            sha.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
        return sha.hexdigest()

    def of(self, x: NDArray[np.int8]) -> NDArray[np.int8]:
        """The reference: (pictures, d) -> (pictures, k)."""
        read = wide(ROOTS[x.view(np.uint8)] if self.root else x)
        total = read @ wide(self.axes).T * wide(self.scales) + self.offsets
        return saturate(round_shift(total, self.shift), -LARGEST, LARGEST).astype(np.int8)


def emit(builder: Builder, x: int, projection: Projection, name: str) -> int:
    """The records; `x` is a tensor of (1, 1, d) int8, what comes out, `name`, is (1, 1, k) int8."""
    k, d = projection.axes.shape
    if builder.tensors[x].shape != (1, 1, d):
        raise ProgramError(f"the projection reads {d} features, and there are {builder.tensors[x].shape[-1]}")
    if projection.root:
        x = emit_roots(builder, x, d)
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


def emit_roots(builder: Builder, x: int, d: int) -> int:
    """As a map of d pixels of one colour for the table, and back as int8."""
    image = builder.reshaped(x, "projection.roots.image", (1, d, 1), np.uint8)
    wide_roots = builder.buffer("projection.roots.wide", np.int16, (1, d, 1))
    table = builder.constant("projection.roots.table", ROOTS.reshape(256, 1))
    builder.emit("forward", "image_table", {"image": image, "table": table, "y": wide_roots})
    roots, one = builder.buffer("projection.roots", np.int8, (1, 1, d)), Multiplier.of(Fraction(1))
    row = builder.reshaped(wide_roots, "projection.roots.row", (1, 1, d))
    builder.emit("forward", "concat", {"x": row, "y": roots}, first=0, x_zero=0, mantissa=one.mantissa,
                 shift=one.shift, y_zero=0, low=-LARGEST, high=LARGEST)  # fmt: skip
    return roots
