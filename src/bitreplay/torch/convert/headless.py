"""A network without the classes that it was trained on.

A learner brings a head of its own, so a file needs none of the old one: 1,000 classes of 512 features are a third of a
QuickNet's file. A graph ends in a head all the same: one class is left of it.
"""

from __future__ import annotations

import copy

import torch
from torch import nn

LABEL = "anything"


def headless(module: nn.Module) -> nn.Module:
    """A copy whose head has one class, LABEL."""
    cut = copy.deepcopy(module)
    head = cut.get_submodule("head")
    if not isinstance(head, nn.Linear):
        raise ValueError(f"The head is of kind {type(head).__name__}; expected a linear layer.")
    one = nn.Linear(head.in_features, 1, bias=head.bias is not None)
    with torch.no_grad():
        one.weight.copy_(head.weight[:1])
        if head.bias is not None:
            one.bias.copy_(head.bias[:1])
    cut.add_module("head", one)
    return cut
