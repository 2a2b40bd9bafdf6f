"""The engine's rounding in the training loop: where it acts, what it makes of values and gradients, how it ends."""

import numpy as np
import pytest
import torch
from torch import nn

from bitreplay.torch.arrays import scale_pixels
from bitreplay.torch.convert import convert
from bitreplay.torch.convert.latent_code import as_real
from bitreplay.torch.models import MODELS, build, input_size
from bitreplay.torch.pretraining.engine_rounding import EngineRounding, coded, rounded

WIDTHS = {
    "bireal18": (8, 16, 16, 24), "react18": (8, 16, 16, 24), "react18_64": (8, 16, 16, 24),
    "react_tiny": (8, 16, 16, 16), "vgg_small": (8, 16, 24), "quicknet": (16, 24, 24, 32),
    "quicknet_large": (16, 24, 24, 32),
    "efficientnet_lite0": (8, 8, 8, 16, 16, 24, 24, 40, 48),
    "efficientnet_tiny": (8, 8, 8, 16, 16, 48),
}  # fmt: skip


@pytest.fixture(scope="module", params=list(MODELS))
def settled(request):
    """A small model with settled statistics, and pictures (N, 3, S, S)."""
    torch.manual_seed(0)
    options = {"size": 64} if request.param.startswith(("quicknet", "efficientnet")) else {}
    model = build(request.param, 5, widths=WIDTHS[request.param], **options)
    size = min(64, input_size(request.param))
    images = torch.randint(0, 256, (40, 3, size, size), dtype=torch.uint8)
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.momentum = 1.0
    with torch.no_grad():
        model.train()(scale_pixels(images))
    return model.eval(), images


def test_ranges_and_code_are_those_of_the_conversion(settled):
    model, images = settled
    rows = images.permute(0, 2, 3, 1).numpy()
    graph, _ = convert(model, rows, class_names=list("abcde"), reestimate=False, outside=0.0)
    rounding = EngineRounding(model, images, outside=0.0)
    rounding.calibrate()
    rounding.remove()
    ranges = [(float(low), float(high)) for low, high in graph.ranges.values()]
    assert len(rounding.hooks) == len(ranges)
    replay_layer = next(iter(graph.replay_layers))
    reached, pairs = False, zip(graph.ranges, rounding.hooks.values(), strict=True)
    for (low, high), (name, place) in zip(ranges, pairs, strict=True):
        step = (high - low) / 255
        # Behind the level the conversion also looks at coded values, so its ranges are at least as wide.
        slack = 0.51 * step if not reached else (high - low)
        assert abs(float(place.low) - low) <= slack and abs(float(place.high) - high) <= slack, name
        reached = reached or name == replay_layer
    (hook,) = [hook for hook in rounding.hooks.values() if hook.at_replay_layer]
    code = graph.replay_layers[replay_layer][1]
    np.testing.assert_allclose(hook.threshold.flatten(), as_real(code.thresholds)[:, 0], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(hook.values.reshape(2, -1).T, as_real(code.values), rtol=1e-3, atol=1e-3)


def test_it_rounds_while_it_is_on_and_leaves_no_trace(settled):
    model, images = settled
    pixels = scale_pixels(images)
    with torch.no_grad():
        plain = model(pixels)
        rounding = EngineRounding(model, images)
        rounding.calibrate()
        under = model(pixels)
        rounding.remove()
        after = model(pixels)
    assert not torch.equal(under, plain) and torch.equal(after, plain)


def test_every_parameter_still_gets_a_gradient(settled):
    model, images = settled
    rounding = EngineRounding(model, images)
    rounding.calibrate()
    model.train()
    nn.functional.cross_entropy(model(scale_pixels(images)), torch.arange(40) % 5).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    model.zero_grad(set_to_none=True)
    rounding.remove()
    model.eval()


def test_rounded_values_lie_on_256_steps_and_gradients_inside_pass():
    low, high = torch.tensor(-1.0), torch.tensor(1.55)
    x = torch.linspace(-2, 2, 2001, requires_grad=True)
    y = rounded(x, low, high)
    y.sum().backward()
    steps = y.detach() / 0.01
    assert (steps - steps.round()).abs().max() < 1e-3 and len(steps.round().unique()) == 256
    inside = (x > low) & (x < high)
    assert ((y - x).abs()[inside] <= 0.00501).all()
    assert x.grad is not None
    assert (x.grad[inside] == 1).all() and (x.grad[(x < low) | (x > high)] == 0).all()


def test_every_second_sample_is_coded_and_gradients_pass_straight():
    x = torch.randn(4, 3, 2, 2, requires_grad=True)
    y = coded(x, torch.zeros(1, 3, 1, 1), torch.tensor([-2.0, 2.0]).view(2, 1, 1, 1, 1).expand(2, 1, 3, 1, 1))
    torch.testing.assert_close(y[::2], 2 * torch.where(x[::2] >= 0, 1.0, -1.0))
    assert torch.equal(y[1::2], x[1::2])
    y.sum().backward()
    torch.testing.assert_close(x.grad, torch.ones_like(x))
