"""Law: values and pseudo-gradients of the binarisers against their formulas, with zeros in every input."""

import pytest
import torch

from bitreplay.torch.models.binarize import (
    BinaryConv2d,
    ClippedSign,
    PolynomialSign,
    RPReLU,
    RSign,
    clip_latent_weights,
    hard_sign,
    set_binary_weights,
)

POINTS = torch.tensor([-2.0, -1.25, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 1.25, 1.5])
SIGNS = torch.tensor([-1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])


def maps(values: torch.Tensor) -> torch.Tensor:
    """A (1, 1, 1, n) map that wants a gradient."""
    return values.view(1, 1, 1, -1).clone().requires_grad_()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_zero_and_minus_zero_have_sign_plus_one(dtype: torch.dtype) -> None:
    assert torch.equal(hard_sign(POINTS.to(dtype)), SIGNS.to(dtype))


@pytest.mark.parametrize("clip", [1.0, 1.25])
def test_clipped_sign(clip: float) -> None:
    x = maps(POINTS)
    y = ClippedSign(clip)(x)
    y.backward(torch.full_like(y, 3.0))
    assert torch.equal(y.flatten(), SIGNS)
    assert x.grad is not None
    assert torch.equal(x.grad.flatten(), torch.tensor([3.0 if abs(v) <= clip else 0.0 for v in POINTS.tolist()]))


def test_polynomial_sign() -> None:
    x = maps(POINTS)
    y = PolynomialSign()(x)
    y.backward(torch.full_like(y, 3.0))
    assert torch.equal(y.flatten(), SIGNS)
    assert x.grad is not None
    assert torch.equal(x.grad.flatten(), torch.tensor([3.0 * max(0.0, 2 - 2 * abs(v)) for v in POINTS.tolist()]))


def test_rsign_moves_the_threshold_against_the_input() -> None:
    layer = RSign(2)
    layer.threshold.data = torch.tensor([0.25, -0.5])
    x = torch.tensor([0.25, 0.0, -0.5, 2.0]).repeat(2, 1).view(1, 2, 1, 4).requires_grad_()
    y = layer(x)
    assert torch.equal(y.flatten(), torch.tensor([1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0]))
    y.sum().backward()
    assert x.grad is not None and layer.threshold.grad is not None
    expected = torch.tensor([[2.0, 1.5, 0.5, 0.0], [0.5, 1.0, 2.0, 0.0]])
    assert torch.equal(x.grad.view(2, 4), expected)
    assert torch.equal(layer.threshold.grad, -expected.sum(1))


def test_rprelu() -> None:
    layer = RPReLU(1)
    layer.shift.data, layer.slope.data, layer.offset.data = (torch.tensor([v]) for v in (0.5, 0.25, 2.0))
    x = maps(torch.tensor([-1.5, 0.0, 0.5, 3.5]))
    y = layer(x)
    y.sum().backward()
    assert torch.equal(y.flatten(), torch.tensor([1.5, 1.875, 2.0, 5.0]))
    assert x.grad is not None
    assert torch.equal(x.grad.flatten(), torch.tensor([0.25, 0.25, 0.25, 1.0]))
    gradients = [p.grad.item() for p in (layer.shift, layer.slope, layer.offset) if p.grad is not None]
    assert gradients == [-1.75, -2.5, 4.0]


@pytest.mark.parametrize(("scaled", "aware"), [(True, False), (True, True), (False, False)])
def test_binary_weights_and_their_gradient(scaled: bool, aware: bool) -> None:
    layer = BinaryConv2d(5, 2, 1, scaled=scaled, magnitude_aware=aware)
    layer.weight.data = torch.tensor([[-0.5, 0.0, -0.0, 1.5, 1.0], [0.1, -0.1, 0.0, -1.0, -1.8]]).view(2, 5, 1, 1)
    mean = torch.tensor([0.6, 0.6])
    x = torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0]).view(1, 5, 1, 1)
    factor = mean if scaled else torch.ones(2)
    assert torch.allclose(layer.scale(), factor)
    assert torch.equal(layer.signs().view(2, 5), torch.tensor([[-1.0, 1, 1, 1, 1], [1.0, -1, 1, -1, -1]]))
    y = layer(x)
    assert torch.allclose(y.flatten(), factor * torch.tensor([-1.0, 3.0]))
    y.sum().backward()
    inside = torch.tensor([[1.0, 1, 1, 0, 1], [1.0, 1, 1, 1, 0]])
    expected = x.view(1, 5) * inside * (mean.view(2, 1) if aware else 1.0)
    assert layer.weight.grad is not None
    assert torch.allclose(layer.weight.grad.view(2, 5), expected)


@pytest.mark.parametrize("pad_with", ["zero", "one"])
def test_padding_is_what_taps_outside_read(pad_with: str) -> None:
    layer = BinaryConv2d(3, 4, 3, 2, pad_with=pad_with, scaled=False)
    x = hard_sign(torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(0)))
    framed = torch.full((2, 3, 8, 8), 0.0 if pad_with == "zero" else 1.0)
    framed[:, :, 1:7, 1:7] = x
    for row, column in [(0, 0), (1, 2), (2, 1)]:
        patch = framed[:, :, 2 * row : 2 * row + 3, 2 * column : 2 * column + 3]
        by_hand = torch.einsum("nchw,ochw->no", patch, layer.signs())
        assert torch.equal(layer(x)[:, :, row, column], by_hand)


def test_first_stage_uses_the_weights_themselves() -> None:
    layer = BinaryConv2d(2, 2, 1)
    x = hard_sign(torch.randn(1, 2, 3, 3))
    set_binary_weights(layer, False)
    assert torch.equal(layer(x), torch.nn.functional.conv2d(x, layer.weight))
    set_binary_weights(layer, True)
    assert torch.equal(layer(x), torch.nn.functional.conv2d(x, layer.signs() * layer.scale().view(-1, 1, 1, 1)))


def test_clipped_latent_weights_can_move_again() -> None:
    layer = BinaryConv2d(1, 2, 1, clip=1.25)
    layer.weight.data = torch.tensor([[3.0], [-0.0]]).view(2, 1, 1, 1)
    clip_latent_weights(layer)
    layer(torch.ones(1, 1, 1, 1)).sum().backward()
    assert layer.weight.data.flatten().tolist() == [1.25, 0.0]
    assert layer.weight.grad is not None and (layer.weight.grad != 0).all()


def test_unknown_padding_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 'zero' or 'one'"):
        BinaryConv2d(1, 1, pad_with="same")
