"""A companion with a prior for the tiny model, and the rule that it stands for, written down anew in float64."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitreplay import Learner, zoo
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.modelfile.projection_file import KIND, ProjectionFile, save
from bitreplay.zoo.prior_axes import prior_axes
from tests import tiny

AXES = 12


def prior_for(model: Path, default_components: int | None = None) -> ProjectionFile:
    """Axes found on noise and colours that are not learned."""
    found = zoo.find(model)
    layers = default_feature_layers(found.graph)
    learner = Learner.from_pretrained(found, feature_layers=layers)
    noise = np.random.default_rng(5).integers(0, 256, (60, tiny.SIDE, tiny.SIDE, 3), dtype=np.uint8)
    pictures = np.concatenate([noise, tiny.pictures(*tiny.COLOURS, each=30, seed=100)[0]])
    lengths = learner.strategy.features.lengths  # type: ignore[attr-defined]
    return ProjectionFile(prior_axes(learner.encode(pictures), layers, lengths, AXES), found.digest, {},
                          default_components)  # fmt: skip


def model_with_prior(folder: Path, default_components: int | None = None) -> Path:
    path = tiny.model(folder)
    save(prior_for(path, default_components), zoo.find(path).companion(KIND))
    return path


def with_other_constants(content: ProjectionFile) -> list[ProjectionFile]:
    """The same axes without the root, and with each constant changed."""
    projection, shrinkage = content.projection, content.projection.shrinkage
    others = [replace(projection, root=False)]
    for changed in ({"cap": 3}, {"factor": shrinkage.factor / 2}, {"pictures": 5}):
        others.append(replace(projection, shrinkage=replace(shrinkage, **changed)))
    return [replace(content, projection=other) for other in others]


def scores_of(y: NDArray, labels: NDArray, queries: NDArray) -> NDArray[np.float64]:
    """lambda = min(4, d / n) of one part, means shrunk by n_c / (n_c + 4), from deviations, not from sums."""
    (n, d), names, y = y.shape, sorted(set(labels)), y.astype(np.float64)
    means = np.stack([y[labels == name].mean(axis=0) for name in names])
    deviations = y - means[np.searchsorted(names, labels)]
    covariance = deviations.T @ deviations / n
    covariance += min(4, d / n) * np.trace(covariance) / d * np.eye(d)
    middle, counts = np.rint(y.mean(axis=0)), np.array([(labels == name).sum() for name in names])[:, None]
    means = (4 * middle + counts * means) / (4 + counts)
    weights = np.linalg.solve(covariance, (means - middle).T)
    return (queries - middle) @ weights - 0.5 * ((means - middle).T * weights).sum(axis=0)
