"""Larq Zoo's QuickNet weights: a Keras file of HDF5 (quicknet_weights.h5) becomes our QuickNet.

A Keras file lists its layers in the order of the network, each with its weights by name. Ours are walked in the same
order: every layer with weights takes the next one of the file, whose shapes must fit. Keras kernels lie as (rows,
columns, inputs, outputs), depthwise ones as (rows, columns, channels, 1), linear ones as (inputs, outputs). Binary
kernels keep their latent values: only signs count, and sign(0) = +1 on both sides.

Depth and width are read off the file, so QuickNet, QuickNetLarge and QuickNetSmall all pass. The file must hold the
head. Larq Zoo normalises each colour by ImageNet's mean and deviation; the model gets that as its first layer.
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

from .binarize import BinaryConv2d
from .convert import convert
from .fold_normalisation import fold_normalisation
from .layers import Blur, trace
from .models import build
from .weights import class_names as names_in

try:
    import h5py
except ImportError as error:
    raise ImportError("Reading Keras files needs h5py: pip install 'bitreplay[larq]'.") from error

SIZE = 224
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
VARIANTS = {21: "quicknet", 37: "quicknet_large"}  # by their ordinary and binary convolutions, the depthwise left out


class KerasLayer(NamedTuple):
    """One layer of the file that has weights, as arrays that are read when asked for."""

    name: str
    weights: dict[str, h5py.Dataset]


def load_larq(path: str | Path) -> tuple[nn.Module, dict[str, Any]]:
    """The module and a note as `load_weights` gives it. Classes are named by ImageNet's numbers."""
    try:
        with h5py.File(path, "r") as file:
            return _build(keras_layers(file), Path(path))
    except (OSError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} cannot be read as a Keras file of weights: {error}") from error


def convert_larq(
    path: str | Path, images: NDArray[np.uint8], class_names: Sequence[str] | None = None, **options: Any
) -> tuple[Graph, dict[str, Any]]:
    """The graph and how it was made, as `convert` gives them. `images` (224x224, as Larq trains) calibrate; without
    `class_names` the classes are named by ImageNet's numbers."""
    module, note = load_larq(path)
    names = names_in(note) if class_names is None else class_names
    graph, made = convert(module, images, class_names=names, **options)
    return fold_normalisation(graph), made | note


def keras_layers(file: h5py.File) -> list[KerasLayer]:
    """The layers with weights, in the order of the network; a whole saved model holds them one group deeper."""
    root = file["model_weights"] if "model_weights" in file else file
    found = []
    for name in map(_text, root.attrs["layer_names"]):
        group = root[name]
        weights = {
            _text(key).rpartition("/")[2].partition(":")[0]: group[_text(key)] for key in group.attrs["weight_names"]
        }
        if weights:
            found.append(KerasLayer(name, weights))
    return found


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _build(layers: list[KerasLayer], path: Path) -> tuple[nn.Module, dict[str, Any]]:
    kernels = [layer.weights["kernel"].shape for layer in layers if "kernel" in layer.weights]
    convolutions = [shape for shape in kernels if len(shape) == 4]
    if len(convolutions) not in VARIANTS or len(kernels) != len(convolutions) + 1:
        raise ValueError(
            f"{path} has {len(convolutions)} convolutions and {len(kernels) - len(convolutions)} linear layers; "
            f"expected {' or '.join(map(str, VARIANTS))} and 1: a QuickNet with its head."
        )
    name, classes = VARIANTS[len(convolutions)], int(kernels[-1][1])
    widths = list(dict.fromkeys(int(shape[3]) for shape in convolutions[1:]))
    options: dict[str, Any] = {"widths": widths, "normalised": True, "size": SIZE}
    try:
        model = build(name, classes, **options)
    except ValueError as error:
        raise ValueError(f"{path} has convolutions of {widths} channels, which no QuickNet has.") from error
    places = [(target, module) for target, module in named_layers(model) if target != "normalise"]
    if len(places) != len(layers):
        raise ValueError(f"{path} has {len(layers)} layers with weights; {name} has {len(places)}.")
    state: dict[str, Tensor] = {"normalise.running_mean": 2 * torch.tensor(MEAN) - 1}
    state["normalise.running_var"] = (2 * torch.tensor(DEVIATION)) ** 2
    for (target, module), layer in zip(places, layers, strict=True):
        for key, tensor in tensors_of(module, layer).items():
            state[f"{target}.{key}"] = tensor
    counters = {key: value for key, value in model.state_dict().items() if key.endswith("num_batches_tracked")}
    model.load_state_dict(state | counters)
    names = [f"imagenet {k}" for k in range(classes)]
    note = {"model": name, "classes": classes, "class_names": names, "options": options, "source": path.name}
    return model.eval(), note


def named_layers(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """The layers with weights, in the order in which an image passes them."""
    graph = trace(model)
    found = [(str(n.target), graph.get_submodule(str(n.target))) for n in graph.graph.nodes if n.op == "call_module"]
    return [(target, module) for target, module in found if module.state_dict()]


def tensors_of(module: nn.Module, layer: KerasLayer) -> dict[str, Tensor]:
    """The weights of one Keras layer by the names and in the shapes of ours."""
    if isinstance(module, nn.BatchNorm2d):
        names = {"moving_mean": "running_mean", "moving_variance": "running_var"}
        if module.affine:
            names |= {"gamma": "weight", "beta": "bias"}
    elif isinstance(module, nn.Linear):
        names = {"kernel": "weight", "bias": "bias"}
    elif isinstance(module, Blur):
        names = {"depthwise_kernel": "kernel"}
    else:
        assert isinstance(module, (nn.Conv2d, BinaryConv2d)), module
        depthwise = isinstance(module, nn.Conv2d) and module.groups > 1
        names = {"depthwise_kernel" if depthwise else "kernel": "weight"}
    if set(layer.weights) != set(names):
        raise ValueError(f"Layer {layer.name} has {sorted(layer.weights)}; expected {sorted(names)}.")
    found = {}
    for theirs, ours in names.items():
        wanted, source = module.state_dict()[ours], layer.weights[theirs]
        order = axes(theirs, source.ndim)
        if tuple(source.shape[axis] for axis in order) != tuple(wanted.shape):
            raise ValueError(
                f"Layer {layer.name} has {theirs} {source.shape}, which does not fit {tuple(wanted.shape)}."
            )
        values: NDArray[np.float32] = np.asarray(source, np.float32).transpose(order)
        if not np.isfinite(values).all():
            raise ValueError(f"Layer {layer.name} has {theirs} with values that are no numbers.")
        found[ours] = torch.from_numpy(np.ascontiguousarray(values))
    if isinstance(module, Blur) and not torch.allclose(found["kernel"], module.kernel, atol=1e-6):
        raise ValueError(f"Layer {layer.name} blurs with another filter than (1 2 1) (1 2 1) / 16.")
    return found


def axes(name: str, dimensions: int) -> tuple[int, ...]:
    """Which Keras axis each of our axes is."""
    if name == "kernel":
        return (3, 2, 0, 1) if dimensions == 4 else (1, 0)
    return (2, 3, 0, 1) if name == "depthwise_kernel" else tuple(range(dimensions))
