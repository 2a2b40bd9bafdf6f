"""Feature distillation: the input of a student's head points in the direction of the teacher's, up to a linear map.

    f     the input of the teacher's head, less its mean over a set of views
    p     a learned linear projection of the input of the student's head
    loss  mean over the views of 1 - cos(p, f)

The projection is beside the head during training and is not part of the result: `drop_projection` restores the network
as it was built.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def head_of(model: nn.Module) -> nn.Linear:
    """The last layer, which reads the features."""
    head = model.get_submodule("head")
    return head.linear if isinstance(head, ProjectingHead) else cast(nn.Linear, head)


def logits_and_features(teacher: nn.Module, view: Tensor) -> Tensor:
    """(N, classes + features): the teacher's logits and the inputs of its head."""
    read: list[Tensor] = []
    handle = head_of(teacher).register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    try:
        logits = teacher(view)
    finally:
        handle.remove()
    return torch.cat([logits, *read], 1)


class ProjectingHead(nn.Module):
    """The head; in training its logits are followed by the projected features."""

    def __init__(self, linear: nn.Linear, width: int) -> None:
        super().__init__()
        self.linear = linear
        self.projection = nn.Linear(linear.in_features, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            return torch.cat([self.linear(x), self.projection(x)], 1)
        return self.linear(x)


def add_projection(model: nn.Module, width: int) -> None:
    """Add a projection onto `width` features beside the head."""
    model.add_module("head", ProjectingHead(head_of(model), width))


def drop_projection(model: nn.Module) -> None:
    """Restore the plain head."""
    model.add_module("head", head_of(model))


def feature_loss(projected: Tensor, wanted: Tensor) -> Tensor:
    """Mean of 1 - cosine, of two (N, features)."""
    return (1 - F.cosine_similarity(projected.float(), wanted.float(), dim=1)).mean()
