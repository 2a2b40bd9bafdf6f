"""A learner as an Avalanche strategy (avalanche-lib 0.6): pip install 'bitreplay[avalanche]'.

    from bitreplay.adapters.avalanche import BitreplayStrategy
    strategy = BitreplayStrategy(learner=Learner.from_pretrained("quicknet"), evaluator=evaluator)
    for experience in benchmark.train_stream:
        strategy.train(experience)
        strategy.eval(benchmark.test_stream)

An experience of the benchmark is one of the learner's, whole: the learner has its own epochs and minibatches, so
Avalanche's callbacks of training minibatches are not called, and its metrics are those of evaluation. Datasets give
pictures as tensors (3, height, width), uint8 or, as ToTensor makes them, floats from 0 to 1, which are turned back into
the bytes that they were; other floats are refused. The class numbers of the benchmark are the learner's names.
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

# Of a class that was not learned: below the logarithm of any probability that a learner can say (2^-30).
NEVER = -100.0


class BitreplayStrategy(SupervisedTemplate):
    """`others` go to Avalanche's SupervisedTemplate: plugins, evaluator, eval_every, eval_mb_size."""

    def __init__(self, *, learner: Learner, eval_mb_size: int = 32, **others: Any) -> None:
        answering = Answers(learner)
        # Avalanche wants an optimiser; it never steps.
        optimiser = torch.optim.SGD([answering.unused], lr=0.0)
        super().__init__(model=answering, optimizer=optimiser, eval_mb_size=eval_mb_size, **others)
        self.learner = learner

    def training_epoch(self, **kwargs: Any) -> None:
        """All of the experience at once."""
        images: list[NDArray[np.uint8]] = []
        labels: list[int] = []
        for batch in self.dataloader:
            images.append(as_bytes(batch[0]))
            labels += batch[1].tolist()
        self.learner.learn(np.concatenate(images), labels)

    def forward(self) -> Tensor:
        """Logarithms of probabilities, a column for each class number up to the highest learned or asked for."""
        found = self.model(self.mb_x)
        wanted = int(self.mb_y.max()) + 1
        room = torch.full((len(found), max(wanted - found.shape[1], 0)), NEVER, device=found.device)
        return torch.cat([found, room], dim=1)


class Answers(nn.Module):
    """A learner in the place of a network: it has nothing that torch could train."""

    def __init__(self, learner: Learner) -> None:
        super().__init__()
        self.learner = learner
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, images: Tensor) -> Tensor:
        labels = self.learner.labels
        if not labels:
            return torch.full((len(images), 1), NEVER, device=images.device)
        shares = self.learner.predict_proba(as_bytes(images))
        found = np.full((len(images), max(map(int, labels)) + 1), NEVER, np.float32)
        found[:, np.array(labels, int)] = np.log(np.maximum(shares, 2.0**-31))
        return torch.from_numpy(found).to(images.device)


def as_bytes(images: Tensor) -> NDArray[np.uint8]:
    """(n, height, width, 3)"""
    array = colours_last(images.detach().cpu().numpy())
    if array.dtype == np.uint8:
        return array
    found = np.rint(array * 255)
    if not (np.abs(found - array * 255) < 1e-3).all() or found.min() < 0 or found.max() > 255:
        raise ValueError(
            "Pictures must be uint8 tensors, or floats k / 255 as ToTensor makes them, without Normalize."
        )  # fmt: skip
    return found.astype(np.uint8)
