"""Minibatches of augmented training views, drawn anew each epoch and divided among the processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Generator, Tensor, nn

from bitreplay.torch.arrays import Arrays
from bitreplay.torch.pretraining.augmentation import Augmentation, draw
from bitreplay.torch.pretraining.world import World
from bitreplay.torch.resizing import resize_view


class Minibatch(NamedTuple):
    """Views (N, 3, S, S) in [-1, 1] at the data's own size, their labels (N,), and where views are blended, the labels
    of what was blended in and its share (N,)."""

    view: Tensor
    labels: Tensor
    others: Tensor | None = None
    share: Tensor | None = None


class Views:
    """Everything random comes from (seed, epoch, process), so that a resumed run sees what an undisturbed one would."""

    def __init__(self, arrays: Arrays, augment: Augmentation, minibatch: int, seed: int, world: World) -> None:
        self.arrays, self.augment, self.seed, self.world = arrays, augment, seed, world
        self.share = max(1, minibatch // world.size)
        self.steps = max(1, len(arrays) // (self.share * world.size))

    def generator(self, epoch: int, stream: int) -> Generator:
        seed = (self.seed * 1_000_003 + epoch) * 1009 + stream
        return torch.Generator(self.world.device).manual_seed(seed)

    def minibatches(self, epoch: int) -> Iterator[Minibatch]:
        """`steps` of them."""
        order = torch.randperm(len(self.arrays), generator=self.generator(epoch, 0), device=self.world.device)
        generator = self.generator(epoch, 1 + self.world.rank)
        for step in range(self.steps):
            index = order[(step * self.world.size + self.world.rank) * self.share :][: self.share]
            noise = draw(len(index), generator)
            view, labels = self.augment(self.arrays.images[index], noise), self.arrays.labels[index]
            if not (self.augment.mix or self.augment.cut):
                yield Minibatch(view, labels)
                continue
            view, share = self.augment.blend(view, noise)
            yield Minibatch(view, labels, labels.flip(0), share)


def view_for(model: nn.Module, view: Tensor, scale: float = 1.0) -> Tensor:
    """The view at the size that the model reads, or at `scale` times it, in the layout that convolutions like."""
    size = int(model.input_size)  # type: ignore[arg-type]
    return resize_view(view, round(size * scale)).contiguous(memory_format=torch.channels_last)
