"""A projection with a prior: axes that whiten a target, found on photographs without labels; a host does it once, in
floating point.

    x'     = the root of x (engine/projection.py)
    target = share K + (1 - share) D
    y      = axes . (x' - mean),   axes^T axes = target^-1, the largest variances first

D is diagonal, for each part of x' the mean of its variances. K is half the mean square of the difference of a
photograph and each of its five nearest neighbours, which stands in for the scatter within classes; or the covariance of
all photographs (`total`). K is scaled to D's trace. In y the target is I, so that the discriminant shrinks the scatter
of few pictures towards the target; the constants PRIOR belong to it. They and the share were chosen on training
pictures (docs/instead.md, experiments/prior.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine.projection import ROOTS, Projection
from bitreplay.engine.shrinkage import Shrinkage
from bitreplay.zoo.principal_axes import SPREAD, covariance, rounded

PRIOR = Shrinkage(cap=4, factor=Fraction(1), pictures=4)
SHARE, NEIGHBOURS, AT_ONCE = 0.5, 5, 1000
Floats = NDArray[np.float64]


def prior_axes(
    x: NDArray[np.int8],
    feature_layers: str,
    lengths: Sequence[int],
    axes: int,
    share: float = SHARE,
    shrinkage: Shrinkage = PRIOR,
) -> Projection:
    """From x (photographs, d), which are features of `feature_layers`; `lengths` are those of their parts."""
    found, middle, total = whitening_axes(rooted(x), lengths, share=share)
    return replace(rounded(found[:axes], middle, total, feature_layers, SPREAD), root=True, shrinkage=shrinkage)


def whitening_axes(
    x: NDArray[np.int8], lengths: Sequence[int], target: str = "neighbours", share: float = SHARE
) -> tuple[Floats, Floats, Floats]:
    """All axes (d, d), and middle and covariance of x; the target is "neighbours" or "total"."""
    middle, total = covariance(x)
    diagonal = part_means(total.diagonal(), lengths)
    within = total if target == "total" else neighbours(x, inverse_root(mixed(total, diagonal, share)))
    root = inverse_root(mixed(within * (diagonal.sum() / np.trace(within)), diagonal, share))
    vectors = np.linalg.eigh(root.T @ total @ root)[1][:, ::-1]
    return (root @ vectors).T, middle, total


def rooted(x: NDArray[np.int8]) -> NDArray[np.int8]:
    return ROOTS[x.view(np.uint8)].astype(np.int8)


def part_means(values: Floats, lengths: Sequence[int]) -> Floats:
    """For each feature the mean over its part."""
    parts = np.split(values, np.cumsum(lengths)[:-1])
    return np.concatenate([np.full(len(part), part.mean()) for part in parts])


def mixed(scatter: Floats, diagonal: Floats, share: float) -> Floats:
    return share * scatter + np.diag((1 - share) * diagonal)


def inverse_root(matrix: Floats) -> Floats:
    """R with R R^T the inverse."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors / np.sqrt(values)


def neighbours(x: NDArray[np.int8], root: Floats) -> Floats:
    """Half the mean square of the difference of pictures and their nearest neighbours by the cosine in x . root."""
    y = (x - x.mean(axis=0)) @ root
    y = (y / np.linalg.norm(y, axis=1, keepdims=True)).astype(np.float32)
    scatter = np.zeros((x.shape[1], x.shape[1]))
    for start in range(0, len(x), AT_ONCE):
        near = y[start : start + AT_ONCE] @ y.T
        near[np.arange(len(near)), start + np.arange(len(near))] = -2
        for column in np.argpartition(-near, NEIGHBOURS, axis=1)[:, :NEIGHBOURS].T:
            apart = x[start : start + AT_ONCE].astype(np.float32) - x[column]
            scatter += apart.T @ apart
    return scatter / (2 * NEIGHBOURS * len(x))
