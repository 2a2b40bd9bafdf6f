"""A learner as an Avalanche strategy (avalanche-lib 0.6): pip install 'bitreplay[avalanche]'.

    from bitreplay.adapters.avalanche import BitreplayStrategy
    strategy = BitreplayStrategy(learner=Learner.from_pretrained("efficientnet_lite0"), evaluator=evaluator)
    for experience in benchmark.train_stream:
        strategy.train(experience)
        strategy.eval(benchmark.test_stream)

An experience of the benchmark is one experience of the learner, which has its own epochs and minibatches: Avalanche's
callbacks for training minibatches are not called, and only its metrics of evaluation apply. Datasets give images as
tensors (3, height, width) of uint8, or of floats from 0 to 1 as ToTensor makes them, which are turned back into bytes;
other floats are refused. The benchmark's class numbers are the learner's labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from avalanche.training.templates import SupervisedTemplate
from numpy.typing import NDArray
from torch import Tensor, nn

from bitreplay.data.pictures.inputs import colours_last
from bitreplay.learner import Learner

# For a class that was not learned: below the logarithm of any probability of a learner (2^-30).
LOG_ZERO = -100.0


class BitreplayStrategy(SupervisedTemplate):
    """An Avalanche strategy that learns and predicts with a learner.

    Parameters
    ----------
    learner : Learner
        Learns each experience of the benchmark as one of its own.
    eval_mb_size : int
        Minibatch size of evaluation.
    **kwargs
        Further arguments of `SupervisedTemplate`, such as `plugins`, `evaluator` and `eval_every`.

    Attributes
    ----------
    learner : Learner
        The learner; it can be saved.

    Examples
    --------
    >>> strategy = BitreplayStrategy(learner=Learner.from_pretrained("react_tiny"))
    >>> strategy.learner.labels
    []
    """

    def __init__(self, *, learner: Learner, eval_mb_size: int = 32, **kwargs: Any) -> None:
        module = LearnerModule(learner)
        # Avalanche requires an optimizer; this one never steps.
        optimizer = torch.optim.SGD([module.unused], lr=0.0)
        super().__init__(model=module, optimizer=optimizer, eval_mb_size=eval_mb_size, **kwargs)
        self.learner = learner

    def training_epoch(self, **kwargs: Any) -> None:
        """Learns the whole experience at once."""
        images: list[NDArray[np.uint8]] = []
        labels: list[int] = []
        for batch in self.dataloader:
            images.append(as_bytes(batch[0]))
            labels += batch[1].tolist()
        self.learner.learn(np.concatenate(images), labels)

    def forward(self) -> Tensor:
        """Log probabilities, with a column for each class number up to the highest one learned or in the minibatch."""
        logits = self.model(self.mb_x)
        n_classes = int(self.mb_y.max()) + 1
        padding = torch.full((len(logits), max(n_classes - logits.shape[1], 0)), LOG_ZERO, device=logits.device)
        return torch.cat([logits, padding], dim=1)


class LearnerModule(nn.Module):
    """A learner as a module of torch, without anything that torch could train."""

    def __init__(self, learner: Learner) -> None:
        super().__init__()
        self.learner = learner
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, images: Tensor) -> Tensor:
        labels = self.learner.labels
        if not labels:
            return torch.full((len(images), 1), LOG_ZERO, device=images.device)
        probabilities = self.learner.predict_proba(as_bytes(images))
        logits = np.full((len(images), max(map(int, labels)) + 1), LOG_ZERO, np.float32)
        logits[:, np.array(labels, int)] = np.log(np.maximum(probabilities, 2.0**-31))
        return torch.from_numpy(logits).to(images.device)


def as_bytes(images: Tensor) -> NDArray[np.uint8]:
    """Images as uint8 of shape (n, height, width, 3)."""
    array = colours_last(images.detach().cpu().numpy())
    if array.dtype == np.uint8:
        return array
    pixels = np.rint(array * 255)
    if not (np.abs(pixels - array * 255) < 1e-3).all() or pixels.min() < 0 or pixels.max() > 255:
        raise ValueError("Images must be uint8 tensors, or floats k / 255 as ToTensor makes them, without Normalize.")
    return pixels.astype(np.uint8)
