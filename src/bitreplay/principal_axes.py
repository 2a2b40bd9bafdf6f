"""Axes of a projection, found on pictures of the pre-training: a host does it once, in floating point.

    T = covariance of x,   W = its mean within classes,   D = diagonal, for each part of x the mean of T's diagonal
    axes v = directions of the largest  v^T T v / v^T (W + within D) v,   one after another

`within` decides what they are: a large one gives the principal axes of x, each part in its own unit; a small one those
that tell the classes of the pre-training apart. Each axis is rounded to int8, its largest entry to 127, and scaled so
that y has the mean 0 and the standard deviation `spread`, both rounded to whole numbers (engine/projection.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.projection import Projection
from bitreplay.engine.sums import LARGEST

SCALE_BITS = 30
MOST_SHIFT = 62


def principal_axes(
    x: NDArray[np.int8], labels: NDArray, lengths: Sequence[int], numbers: str, axes: int, within: float, spread: float
) -> Projection:
    """From x (pictures, d) and classes; `lengths` of the parts of x, which `numbers` names."""
    if sum(lengths) != x.shape[1]:
        raise ValueError(f"The parts of {x.shape[1]} numbers have so many in all, got {sum(lengths)}.")
    middle, total, inside = covariances(x, labels)
    units = np.empty(len(middle))
    for start, end in pairwise(np.cumsum([0, *lengths])):
        units[start:end] = max(total.diagonal()[start:end].mean(), 1e-9)
    root = np.linalg.inv(np.linalg.cholesky(inside + within * np.diag(units)))
    found = (root.T @ np.linalg.eigh(root @ total @ root.T)[1][:, ::-1][:, :axes]).T
    return rounded(found, middle, total, numbers, spread)


def covariances(x: NDArray[np.int8], labels: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """The middle of all pictures, their covariance, and its mean within classes."""
    real = x.astype(np.float32)
    middle = real.mean(axis=0, dtype=np.float64)
    total = sum(_products(real[start : start + 1024]) for start in range(0, len(real), 1024)) / len(real)
    total = total - np.outer(middle, middle)
    _, classes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    means = np.stack([real[classes == c].mean(axis=0, dtype=np.float64) for c in range(len(counts))]) - middle
    return middle, total, total - (means.T * counts) @ means / len(real)


def _products(part: NDArray[np.float32]) -> NDArray[np.float64]:
    """Sums of 1,024 products below 2^14 fit the 24 bits of a float32: exact."""
    return (part.T @ part).astype(np.float64)


def rounded(axes: NDArray, middle: NDArray, total: NDArray, numbers: str, spread: float) -> Projection:
    """Real axes (k, d) as a projection in whole numbers; an axis's sign is that of its largest entry, made positive."""
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]
    whole = np.rint(axes / largest[:, None] * LARGEST).astype(np.int8)
    real = whole.astype(np.float64)
    deviations = np.sqrt(np.maximum(((real @ total) * real).sum(axis=1), 1e-9))
    shift = min(int(np.floor(SCALE_BITS - np.log2((spread / deviations).max()))), MOST_SHIFT)
    scales = np.minimum(np.rint(spread / deviations * 2.0**shift), 2.0**SCALE_BITS).astype(np.int32)
    offsets = -np.rint(real @ middle * scales).astype(np.int64)
    return Projection(numbers, whole, scales, offsets, shift)
