"""Minibatches of augmented training views, drawn anew each epoch and divided among the processes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Generator, Tensor, nn

from .arrays import Arrays
from .augment import Augmentation
from .resizing import resize_view
from .world import World


class Views:
    """Everything random comes from (seed, epoch, process), so that a resumed run sees what an undisturbed one would."""

    def __init__(self, arrays: Arrays, augment: Augmentation, minibatch: int, seed: int, world: World) -> None:
        self.arrays, self.augment, self.seed, self.world = arrays, augment, seed, world
        self.share = max(1, minibatch // world.size)
        self.steps = max(1, len(arrays) // (self.share * world.size))

    def generator(self, epoch: int, stream: int) -> Generator:
        seed = (self.seed * 1_000_003 + epoch) * 1009 + stream
        return torch.Generator(self.world.device).manual_seed(seed)

    def minibatches(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        """`steps` pairs: views (N, 3, S, S) in [-1, 1] at the data's own size, labels (N,)."""
        order = torch.randperm(len(self.arrays), generator=self.generator(epoch, 0), device=self.world.device)
        noise = self.generator(epoch, 1 + self.world.rank)
        for step in range(self.steps):
            index = order[(step * self.world.size + self.world.rank) * self.share :][: self.share]
            yield self.augment(self.arrays.images[index], noise), self.arrays.labels[index]


def view_for(model: nn.Module, view: Tensor) -> Tensor:
    """The view at the size that the model reads, in the layout that convolutions like."""
    size = int(model.input_size)  # type: ignore[arg-type]
    return resize_view(view, size).contiguous(memory_format=torch.channels_last)
