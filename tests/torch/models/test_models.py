"""Every model: shapes, levels, a graph made of known layers only, gradients that reach every weight, Table 1."""

import pytest
import torch
from torch import nn

from bitreplay.torch.models import MODELS, TEACHERS, binarize, build, layers
from bitreplay.torch.models.binarize import BinaryConv2d
from bitreplay.torch.models.layers import Blur, trace
from tests.torch.replay_layers import replay_layer_tensors

SMALL = {
    "bireal18": (8, 8, 16, 16),
    "react18": (8, 8, 16, 16),
    "react18_64": (8, 8, 16, 16),
    "react_tiny": (8, 8, 16, 16),
    "vgg_small": (8, 16, 16),
    "quicknet": (8, 8, 16, 16),
    "quicknet_large": (8, 8, 16, 16),
    "efficientnet_lite0": (4, 4, 8, 8, 8, 8, 8, 16, 16),
    "efficientnet_tiny": (4, 4, 8, 8, 8, 16),
    "teacher18": (8, 8, 16, 16),
    "teacher_wide": (8, 8, 16, 16),
}
CONVERTIBLE = (
    nn.Conv2d,
    nn.BatchNorm2d,
    nn.ReLU,
    nn.ReLU6,
    nn.AvgPool2d,
    nn.MaxPool2d,
    nn.Linear,
    nn.Flatten,
    nn.ZeroPad2d,
    nn.Identity,
    binarize.BinaryConv2d,
    binarize.ClippedSign,
    binarize.PolynomialSign,
    binarize.RSign,
    binarize.RPReLU,
    layers.Add,
    layers.Blur,
    layers.GlobalAveragePool,
)


def small(name: str) -> nn.Module:
    torch.manual_seed(0)
    return build(name, 5, widths=SMALL[name])


def size_of(model: nn.Module) -> int:
    return int(model.input_size)  # type: ignore[arg-type]


def pictures(name: str, count: int = 2) -> torch.Tensor:
    size = size_of(small(name))
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(1)) * 2 - 1


@pytest.mark.parametrize("name", [*MODELS, "teacher18"])
def test_traced_graph_has_known_layers_only_and_computes_the_same(name: str) -> None:
    model = small(name).eval()
    graph = trace(model)
    for node in graph.graph.nodes:
        assert node.op in ("placeholder", "call_module", "output"), f"{node.op} {node.target}"
        if node.op == "call_module":
            assert isinstance(graph.get_submodule(str(node.target)), CONVERTIBLE)
    x = pictures(name)
    y = model(x)
    assert y.shape == (2, 5)
    assert torch.equal(graph(x), y)


@pytest.mark.parametrize("name", [*MODELS, *TEACHERS])
def test_gradients_reach_every_weight(name: str) -> None:
    model = small(name).train()
    nn.functional.cross_entropy(model(pictures(name, 4)), torch.tensor([0, 1, 2, 3])).backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None, key
        if name != "teacher18":  # its blocks start as the identity, so half of its convolutions wait one step
            assert parameter.grad.abs().sum() > 0, key


@pytest.mark.parametrize("name", list(MODELS))
def test_binary_convolutions_read_signs(name: str) -> None:
    model = small(name)
    seen: list[torch.Tensor] = []
    for module in model.modules():
        if isinstance(module, BinaryConv2d):
            module.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    model(pictures(name))
    counts = {
        "bireal18": 16, "react18": 16, "react18_64": 16, "react_tiny": 15, "vgg_small": 5,
        "quicknet": 16, "quicknet_large": 32, "efficientnet_lite0": 0, "efficientnet_tiny": 0,
    }  # fmt: skip
    assert len(seen) == counts[name]
    assert all(torch.equal(x.abs(), torch.ones_like(x)) for x in seen)


@pytest.mark.parametrize("name", list(MODELS))
def test_levels_at_the_training_size(name: str) -> None:
    shapes = {
        "bireal18": {"add_12": (16, 4, 4), "add_8": (16, 8, 8)},
        "react18": {"add_12": (16, 4, 4), "add_11": (16, 8, 8)},
        "react18_64": {"add_12": (16, 4, 4), "add_11": (16, 8, 8)},
        "react_tiny": {"add_11": (16, 4, 4)},
        "vgg_small": {"conv_5": (16, 8, 8)},
        "quicknet": {"quant_conv2d_16": (16, 4, 4), "quant_conv2d_11": (8, 8, 8)},
        "quicknet_large": {"quant_conv2d_30": (16, 4, 4), "quant_conv2d_17": (8, 8, 8)},
        "efficientnet_lite0": {"add_8": (8, 5, 5)},
        "efficientnet_tiny": {"add_3": (8, 4, 4)},
    }
    result = replay_layer_tensors(small(name), pictures(name))
    assert {replay_layer: tuple(x.shape[1:]) for replay_layer, x in result.items()} == shapes[name]


def test_react_level_is_the_sum_before_rprelu() -> None:
    model = small("react18").eval()
    x = pictures("react18")
    body = model.get_submodule("blocks")
    assert isinstance(body, nn.Sequential)
    with torch.no_grad():
        below = body[:12](model.get_submodule("stem")(x))
        block = body[12]
        branch = block.get_submodule("norm")(block.get_submodule("conv")(block.get_submodule("sign")(below)))
        by_hand = branch + block.get_submodule("shortcut")(below)
    assert torch.equal(replay_layer_tensors(model, x)["add_12"], by_hand)


def test_wide_teacher_reads_smaller_images_too() -> None:
    assert small("teacher_wide").eval()(torch.zeros(2, 3, 48, 48)).shape == (2, 5)


def test_blur_keeps_a_flat_map_flat_inside() -> None:
    x = torch.full((1, 2, 7, 7), 3.0)
    y = Blur(2, 2)(x)
    assert y.shape == (1, 2, 4, 4)
    assert torch.equal(y[:, :, 1:3, 1:3], torch.full((1, 2, 2, 2), 3.0))
    assert y[0, 0, 0, 0].item() == 3.0 * 9 / 16


def test_unknown_model_is_named() -> None:
    with pytest.raises(ValueError, match="no model 'resnet'"):
        build("resnet")
