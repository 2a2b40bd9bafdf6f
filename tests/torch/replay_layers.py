"""What a model computes at its replay layers, to compare with what the engine computes there."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def replay_layer_tensors(model: nn.Module, images: Tensor) -> dict[str, Tensor]:
    """The tensor at every replay layer of the model for these images (N, 3, H, W), in evaluation mode."""
    tensors: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        return lambda module, inputs, output: tensors.__setitem__(name, output.detach())

    replay_layers: dict[str, str] = model.replay_layers  # type: ignore[assignment]
    handles = [model.get_submodule(path).register_forward_hook(keep(name)) for name, path in replay_layers.items()]
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            model(images)
    finally:
        model.train(was_training)
        for handle in handles:
            handle.remove()
    return tensors
