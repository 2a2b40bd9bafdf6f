"""Accuracy of a model on labelled images, and BatchNorm statistics estimated anew."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from bitreplay.torch.arrays import Arrays, scale_pixels
from bitreplay.torch.pretraining.world import World


def top1(model: nn.Module, arrays: Arrays, world: World, autocast: bool, minibatch: int = 1000) -> float:
    """Share of images, in percent, whose first guess is right. The processes divide the images among themselves."""
    was_training = model.training
    model.eval()
    right = torch.zeros((), dtype=torch.int64, device=world.device)
    mine = torch.arange(world.rank, len(arrays), world.size, device=world.device)
    with torch.no_grad(), torch.autocast(world.device.type, torch.bfloat16, enabled=autocast):
        for index in mine.split(minibatch):
            images = scale_pixels(arrays.images[index]).contiguous(memory_format=torch.channels_last)
            right += (model(images).argmax(1) == arrays.labels[index]).sum()
    model.train(was_training)
    return 100 * world.total(right).item() / len(arrays)


def reestimate_batchnorm(model: nn.Module, minibatches: Iterable[Tensor], world: World) -> None:
    """Replace running means and variances by their plain averages over the minibatches of all processes."""
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    momenta = [m.momentum for m in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the cumulative average
    was_training = model.training
    model.train()
    with torch.no_grad():
        for images in minibatches:
            model(images)
    model.train(was_training)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
        for statistic in (norm.running_mean, norm.running_var):
            if statistic is not None:
                world.total(statistic.div_(world.size))
