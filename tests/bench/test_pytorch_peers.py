"""The peers are the networks they stand for: shapes, counts, and a step that changes what should learn and no more."""

from __future__ import annotations

import pytest
import torch

from benchmarks.bench.onnx_models import MOBILENET_V2
from benchmarks.bench.pytorch import bireal18, contestants, mobilenet_v2
from benchmarks.bench.pytorch.execution import Setting, inference, training
from bitreplay.torch.models.binarize import BinaryConv2d


def test_mobilenet_v2_has_the_published_size():
    assert sum(p.numel() for p in mobilenet_v2.network().parameters()) == 3_504_872
    assert len(mobilenet_v2.blocks()) == 17
    assert mobilenet_v2.GROUPS == MOBILENET_V2


def test_mobilenets_tail_fits_behind_its_head():
    net = mobilenet_v2.network(10)
    tail = mobilenet_v2.tail(10)
    at = len(net) - len(tail)
    replay_layer = net[:at](torch.zeros(1, 3, 224, 224))
    assert tuple(replay_layer.shape[1:]) == mobilenet_v2.LEVEL_SHAPE
    tail.load_state_dict(dict(zip(tail.state_dict(), net[at:].state_dict().values(), strict=True)))
    x = torch.randn(1, 3, 224, 224)
    assert torch.allclose(tail(net[:at](x)), net(x))


@pytest.mark.parametrize("train_weights", [False, True])
def test_a_step_of_the_tail_moves_what_should_learn(train_weights):
    net = bireal18.tail(10, train_weights)
    weights = sum(m.weight.numel() for m in net.modules() if isinstance(m, torch.nn.Conv2d | BinaryConv2d))
    assert weights == 7_077_888
    before = {name: value.clone() for name, value in net.state_dict().items()}
    x, labels = torch.randn(2, *bireal18.TAIL_SHAPE), torch.tensor([1, 2])
    step = training(net, x, labels, Setting("no", False, False))
    step()
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())  # a copy is trained
    moved = contestants.step_of(net, x, labels)
    moved()
    changed = {name for name, value in net.state_dict().items() if not torch.equal(value, before[name])}
    convs = {f"{block}.conv.weight" for block in range(3)}
    learned = {f"{block}.norm.{name}" for block in range(3) for name in ("weight", "bias")}
    assert changed == learned | {"4.weight", "4.bias"} | (convs if train_weights else set())


def test_frozen_weights_are_signs():
    for module in bireal18.network().modules():
        if isinstance(module, torch.nn.Conv2d) and module.kernel_size == (3, 3) and module.in_channels > 3:
            assert len(module.weight.abs().unique()) == 1 and not module.weight.requires_grad


@pytest.mark.parametrize("bits16, last", [("no", True), ("all", False), ("all", True)])
def test_settings_compute_the_same_network(bits16, last):
    torch.manual_seed(0)
    net, x = mobilenet_v2.tail(10), torch.randn(1, *mobilenet_v2.LEVEL_SHAPE)
    expected = net(x)
    result = inference(net, x, Setting(bits16, last, False))()
    assert isinstance(result, torch.Tensor)
    assert torch.allclose(result.float(), expected, atol=1e-5 if bits16 == "no" else 0.05)
