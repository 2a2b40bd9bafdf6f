"""Axes of a projection, found on pictures of the pre-training: a host does it once, in floating point.

    T = covariance of x,   v_i = its eigenvectors, those of the largest eigenvalues first
    y_i = unit v_i . (x - mean),   unit = spread / the largest standard deviation of an axis

One unit for all axes: the discriminant shrinks a covariance of few pictures, and does it better if those axes count
more along which pictures differ more. Each axis is rounded to int8, its largest entry to 127 (engine/projection.py).

With weights for the parts of x, each feature is first divided by its standard deviation and multiplied by the weight of
its part, so that a layer with large activations does not take all axes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.projection import Projection
from bitreplay.engine.sums import LARGEST

SPREAD = 45.0
AT_ONCE = 1024
SCALE_BITS = 30
MAX_SHIFT = 62


def principal_axes(
    x: NDArray[np.int8], feature_layers: str, axes: int, spread: float = SPREAD, weights: NDArray | None = None
) -> Projection:
    """From x (pictures, d), which are features of `feature_layers`; `weights` (d,) are those of their parts."""
    middle, total = covariance(x)
    scales = np.ones(len(total)) if weights is None else weights / np.sqrt(np.maximum(total.diagonal(), 1e-6))
    vectors = np.linalg.eigh(total * np.outer(scales, scales))[1][:, ::-1][:, :axes]
    return rounded((vectors * scales[:, None]).T, middle, total, feature_layers, spread)


def covariance(x: NDArray[np.int8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middle of all pictures, and their covariance. Sums of 1,024 products below 2^14 are exact in float32."""
    middle, total = x.mean(axis=0, dtype=np.float64), np.zeros((x.shape[1], x.shape[1]))
    for start in range(0, len(x), AT_ONCE):
        part = x[start : start + AT_ONCE].astype(np.float32)
        total += part.T @ part
    return middle, total / len(x) - np.outer(middle, middle)


def rounded(
    axes: NDArray[np.float64],
    middle: NDArray[np.float64],
    total: NDArray[np.float64],
    feature_layers: str,
    spread: float,
) -> Projection:
    """Axes (k, d) as a projection in integers; the largest entry of an axis becomes positive."""
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]
    integers = np.rint(axes / largest[:, None] * LARGEST).astype(np.int8)
    unit = spread / np.sqrt(((axes @ total) * axes).sum(axis=1).max())
    real = unit * np.abs(largest) / LARGEST
    shift = min(int(np.floor(SCALE_BITS - np.log2(real.max()))), MAX_SHIFT)
    scales = np.rint(real * 2.0**shift).astype(np.int32)
    offsets = -np.rint(integers.astype(np.float64) @ middle * scales).astype(np.int64)
    return Projection(feature_layers, integers, scales, offsets, shift)
