"""The way back from a model file: a module of the same network takes over its weights, to be trained further.

A file keeps the sign of a binary weight and one factor a channel, so every latent weight of a channel starts at the
same distance from zero. The head, which belongs to other classes, and layers of another width stay as the module has
them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bitreplay.engine.arithmetic.packing import signs
from bitreplay.engine.graph import Fixed, Graph, Node
from bitreplay.torch.convert.lowering import Lowering
from bitreplay.torch.convert.ranges import shapes_of
from bitreplay.torch.models.binarize import BinaryConv2d, RPReLU, RSign
from bitreplay.torch.models.layers import trace

# Where a factor does not say how far from zero latent weights start. A step of Adam moves them by the learning rate.
LATENT = 0.05


def restore(module: nn.Module, graph: Graph) -> list[str]:
    """Copy the weights of a converted network into a module.

    Parameters
    ----------
    module : nn.Module
        A network that `convert` gives nodes of the same names.
    graph : Graph
        The network of a model file.

    Returns
    -------
    list of str
        The parameters of the module that stay as they were, sorted.
    """
    stored = {node.name: node for node in graph.nodes}
    state, missing = module.state_dict(), {name for name, _ in module.named_parameters()}
    for name, path, layer in _layers(module, graph):
        if name not in stored:
            continue
        for key, values in _tensors(layer, stored[name]).items():
            mine = state[f"{path}.{key}"]
            if mine.shape == values.shape:
                mine.copy_(torch.from_numpy(np.ascontiguousarray(values)))
                missing.discard(f"{path}.{key}")
    return sorted(missing)


def _layers(module: nn.Module, graph: Graph) -> Iterator[tuple[str, str, nn.Module]]:
    """The node's name, the module's path and the layer, for each layer with weights."""
    traced = trace(module)
    blank = np.zeros((1, *graph.input_shape), np.uint8)
    lowering = Lowering(traced, shapes_of(traced, blank), dict(getattr(module, "replay_layers", {})))
    for name, value in lowering.run().values.items():
        behind = lowering.folded.get(value, value)
        if behind.op == "call_module":
            path = str(behind.target)
            yield name, path, traced.get_submodule(path)


def _tensors(layer: nn.Module, node: Node) -> dict[str, NDArray[np.float64]]:
    """What the node holds, by the names that the layer has for it."""
    if node.attributes.get("learns") == 0:  # a rounding that `convert` put behind the layer
        return {}
    real = {key: x.values / 2.0**x.shift for key, x in node.arrays.items() if isinstance(x, Fixed)}
    if isinstance(layer, BinaryConv2d):
        words = node.arrays["weights"]
        assert isinstance(words, np.ndarray)
        distance = real["scale"].reshape(-1, 1, 1, 1) if layer.scaled else LATENT
        return {"weight": (signs(words, layer.in_channels) * distance).transpose(0, 3, 1, 2)}
    if isinstance(layer, nn.BatchNorm2d):
        variance = np.maximum(real["inverse_sigma"] ** -2.0 - layer.eps, 0)
        tensors = {"running_mean": real["mean"], "running_var": variance}
        return tensors | ({"weight": real["gamma"], "bias": real["beta"]} if layer.affine else {})
    if isinstance(layer, nn.Conv2d):
        return {"weight": real["weights"].transpose(0, 3, 1, 2) if layer.groups == 1 else real["weights"][:, None]}
    if isinstance(layer, RSign):
        return {"threshold": real["threshold"]}
    if isinstance(layer, RPReLU):
        return {name: real[name] for name in ("shift", "slope", "offset")}
    return {}
