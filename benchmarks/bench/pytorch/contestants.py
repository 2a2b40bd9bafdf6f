"""What PyTorch runs, as lists of (name of the setting, function that prepares it); the quickest one is compared."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from benchmarks.bench.pytorch import bireal18, mobilenet_v2
from benchmarks.bench.pytorch.execution import Work, inference, settings, step_of, training

Settings = list[tuple[str, Callable[[], Work]]]


def version() -> str:
    """PyTorch's version, after setting it to one thread."""
    torch.set_num_threads(1)
    return torch.__version__


def _forward(module: nn.Module, shape: tuple[int, ...], compiled: bool) -> Settings:
    torch.compiler.reset()  # the compiler gives up on a function that it has compiled for too many networks
    x = torch.randn(1, *shape)
    return [(str(s), lambda s=s: inference(module, x, s)) for s in settings(compiled, ("no", "all"))]  # type: ignore[misc]


def _step(module: nn.Module, shape: tuple[int, ...], minibatch: int, classes: int, compiled: bool) -> Settings:
    torch.compiler.reset()
    x, labels = torch.randn(minibatch, *shape), torch.randint(classes, (minibatch,))
    return [(str(s), lambda s=s: training(module, x, labels, s)) for s in settings(compiled)]  # type: ignore[misc]


def bireal18_forward(compiled: bool) -> Settings:
    return _forward(bireal18.network(), (3, 32, 32), compiled)


def bireal18_step(minibatch: int, classes: int, train_weights: bool, compiled: bool) -> Settings:
    return _step(bireal18.tail(classes, train_weights), bireal18.TAIL_SHAPE, minibatch, classes, compiled)


def plain_bireal18_step(minibatch: int, classes: int) -> Work:
    """The same in fp32 with frozen weights, holding one copy of the network."""
    x, labels = torch.randn(minibatch, *bireal18.TAIL_SHAPE), torch.randint(classes, (minibatch,))
    return step_of(bireal18.tail(classes, False), x, labels)


def mobilenet_v2_start(compiled: bool) -> Settings:
    return _forward(mobilenet_v2.start(), (3, 224, 224), compiled)


def mobilenet_v2_step(minibatch: int, classes: int, compiled: bool) -> Settings:
    return _step(mobilenet_v2.tail(classes), mobilenet_v2.LEVEL_SHAPE, minibatch, classes, compiled)
