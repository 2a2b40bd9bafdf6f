"""Larq Zoo's weights: a Keras file (quicknet_weights.h5) becomes a module of ours.

A Keras file lists its layers in the order of the network, each with its weights by name. Ours are walked in the same
order: every layer with weights takes the next one of the file, whose shapes must fit. Keras kernels lie as (rows,
columns, inputs, outputs), depthwise ones as (rows, columns, channels, 1), linear ones as (inputs, outputs). Binary
kernels keep their latent values: only signs count (in BiRealNet their mean size too), and sign(0) = +1 on both sides.

Which network it is, its depth and its widths are read off the file: QuickNet, QuickNetLarge, QuickNetSmall, BiRealNet,
BinaryResNetE18. The file must hold the head. Larq Zoo normalises each colour by ImageNet's mean and deviation; the
model gets that as its first layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bitreplay.engine.graph import Graph
from bitreplay.torch.convert import convert
from bitreplay.torch.convert.fold_normalisation import fold_normalisation
from bitreplay.torch.convert.keras_file import KerasFileError, KerasLayer, keras_layers, open_file
from bitreplay.torch.models import build
from bitreplay.torch.models.binarize import BinaryConv2d
from bitreplay.torch.models.larq_resnets import BinaryResNetE18, LarqBiReal18
from bitreplay.torch.models.layers import Blur, trace
from bitreplay.torch.weights import class_names as names_in

SIZE = 224
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
LARGEST_WIDTH, MAX_CLASSES = 1 << 12, 1 << 16
EXPECTED = "expected a QuickNet, QuickNetLarge, BiRealNet or BinaryResNetE18 with its head"


class LarqNetwork(NamedTuple):
    """A network of Larq Zoo: its name here, what its input size is a multiple of, and options beside its widths."""

    name: str
    multiple: int
    options: dict[str, Any]


# By convolutions (the depthwise left out) and BatchNorms.
NETWORKS = {
    (21, 22): LarqNetwork("quicknet", 4, {"normalised": True}),
    (37, 38): LarqNetwork("quicknet_large", 4, {"normalised": True}),
    (20, 20): LarqNetwork("larq_bireal18", 32, {}),
    (20, 21): LarqNetwork("larq_resnet_e18", 32, {}),
    (20, 19): LarqNetwork("larq_resnet_e18", 8, {"small_stem": True}),
}
OURS = {"larq_bireal18": LarqBiReal18, "larq_resnet_e18": BinaryResNetE18}


def load_larq(path: str | Path, size: int = SIZE) -> tuple[nn.Module, dict[str, Any]]:
    """The module for images of this side, and a note as `load_weights` gives it; classes have ImageNet's numbers."""
    with open_file(path) as file:
        return _build(keras_layers(file), Path(path), size)


def convert_larq(
    path: str | Path, images: NDArray[np.uint8], class_names: Sequence[str] | None = None, **options: Any
) -> tuple[Graph, dict[str, Any]]:
    """The graph and how it was made, as `convert` returns them. `images`, of the side that the network is to read (Larq
    trains at 224), calibrate; without `class_names` the classes are named by ImageNet's numbers."""
    module, note = load_larq(path, images.shape[1] if images.ndim == 4 else SIZE)
    names = names_in(note) if class_names is None else class_names
    graph, conversion = convert(module, images, class_names=names, **options)
    return fold_normalisation(graph), conversion | note


def _build(layers: list[KerasLayer], path: Path, size: int) -> tuple[nn.Module, dict[str, Any]]:
    kernels = [layer.weights["kernel"].shape for layer in layers if "kernel" in layer.weights]
    convolutions = [shape for shape in kernels if len(shape) == 4]
    norms = sum("moving_mean" in layer.weights for layer in layers)
    network = NETWORKS.get((len(convolutions), norms))
    if network is None or len(kernels) != len(convolutions) + 1 or len(kernels[-1]) != 2:
        raise KerasFileError(
            f"{path} has {len(convolutions)} convolutions, {len(kernels) - len(convolutions)} linear layers and "
            f"{norms} BatchNorms; {EXPECTED}."
        )
    if size < network.multiple or size % network.multiple:
        raise KerasFileError(
            f"The side of the images is {size}; {network.name} needs a multiple of {network.multiple}."
        )
    widths = list(dict.fromkeys(int(shape[3]) for shape in convolutions[network.name.startswith("quicknet") :]))
    classes = int(kernels[-1][1])
    options: dict[str, Any] = {"widths": widths, "size": size} | network.options
    if max(*widths, 0) > LARGEST_WIDTH or not 1 <= classes <= MAX_CLASSES:
        raise KerasFileError(f"{path} has up to {max(widths)} channels and {classes} classes; {EXPECTED}.")
    with torch.device("meta"):  # nothing is allocated for what a file claims, until all of it fits
        _fits(_build_module(network, path, classes, options), layers, path, network.name)
    model = _build_module(network, path, classes, options)
    modules = _layers_with_weights(model)
    state: dict[str, Tensor] = {"normalise.running_mean": 2 * torch.tensor(MEAN) - 1}
    state["normalise.running_var"] = (2 * torch.tensor(DEVIATION)) ** 2
    for (target, module), layer in zip(modules, layers, strict=True):
        for key, tensor in tensors_of(module, layer).items():
            state[f"{target}.{key}"] = tensor
    counters = {key: value for key, value in model.state_dict().items() if key.endswith("num_batches_tracked")}
    model.load_state_dict(state | counters)
    names = [f"imagenet {k}" for k in range(classes)]
    note = {"model": network.name, "classes": classes, "class_names": names, "options": options, "source": path.name}
    return model.eval(), note


def _build_module(network: LarqNetwork, path: Path, classes: int, options: dict[str, Any]) -> nn.Module:
    try:
        return (
            OURS[network.name](classes, **options) if network.name in OURS else build(network.name, classes, **options)
        )
    except ValueError as error:
        widths = options["widths"]
        raise KerasFileError(f"{path} has convolutions of {widths} channels, which no {network.name} has.") from error


def _layers_with_weights(model: nn.Module) -> list[tuple[str, nn.Module]]:
    return [(target, module) for target, module in named_layers(model) if target != "normalise"]


def _fits(model: nn.Module, layers: list[KerasLayer], path: Path, name: str) -> None:
    """The file has an array of the right shape for each of ours, or it is refused."""
    modules = _layers_with_weights(model)
    if len(modules) != len(layers):
        raise KerasFileError(f"{path} has {len(layers)} layers with weights; {name} has {len(modules)}.")
    for (_, module), layer in zip(modules, layers, strict=True):
        _shapes_fit(module, layer)


def named_layers(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """The layers with weights, in the order in which an image passes them."""
    graph = trace(model)
    layers = [(str(n.target), graph.get_submodule(str(n.target))) for n in graph.graph.nodes if n.op == "call_module"]
    return [(target, module) for target, module in layers if module.state_dict()]


def tensors_of(module: nn.Module, layer: KerasLayer) -> dict[str, Tensor]:
    """The weights of one Keras layer, whose shapes fit, by the names and in the shapes of ours."""
    tensors = {}
    for theirs, ours in _named(module).items():
        values = layer.read(theirs).transpose(axes(theirs, len(layer.weights[theirs].shape)))
        if theirs == "moving_variance" and (values < 0).any():
            raise KerasFileError(f"Layer {layer.name} has a moving_variance below 0.")
        tensors[ours] = torch.from_numpy(np.ascontiguousarray(values))
    if isinstance(module, Blur) and not torch.allclose(tensors["kernel"], module.kernel, atol=1e-6):
        raise KerasFileError(f"Layer {layer.name} blurs with another filter than (1 2 1) (1 2 1) / 16.")
    return tensors


def _named(module: nn.Module) -> dict[str, str]:
    """Our names of a layer's weights by Keras's."""
    if isinstance(module, nn.BatchNorm2d):
        names = {"moving_mean": "running_mean", "moving_variance": "running_var"}
        return names | ({"gamma": "weight", "beta": "bias"} if module.affine else {})
    if isinstance(module, nn.Linear):
        return {"kernel": "weight", "bias": "bias"}
    if isinstance(module, Blur):
        return {"depthwise_kernel": "kernel"}
    assert isinstance(module, (nn.Conv2d, BinaryConv2d)), module
    depthwise = isinstance(module, nn.Conv2d) and module.groups > 1
    return {"depthwise_kernel" if depthwise else "kernel": "weight"}


def _shapes_fit(module: nn.Module, layer: KerasLayer) -> None:
    names, ours = _named(module), module.state_dict()
    if set(layer.weights) != set(names):
        raise KerasFileError(f"Layer {layer.name} has {sorted(layer.weights)}; expected {sorted(names)}.")
    for theirs, name in names.items():
        wanted, shape = tuple(ours[name].shape), layer.weights[theirs].shape
        if len(shape) != len(wanted) or tuple(shape[axis] for axis in axes(theirs, len(shape))) != wanted:
            raise KerasFileError(f"Layer {layer.name} has {theirs} {shape}, which does not fit {wanted}.")


def axes(name: str, dimensions: int) -> tuple[int, ...]:
    """Which Keras axis each of our axes is."""
    if dimensions == 4:
        return (3, 2, 0, 1) if name == "kernel" else (2, 3, 0, 1)
    return (1, 0) if dimensions == 2 else tuple(range(dimensions))
