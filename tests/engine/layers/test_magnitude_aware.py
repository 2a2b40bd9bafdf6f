"""Latent weights that start by the scale of their output take Bi-Real Net's magnitude-aware steps."""

import numpy as np
import pytest

from bitreplay.engine.arithmetic.packing import pack
from bitreplay.engine.layers.latent_weights import by_scale
from bitreplay.engine.native import NativeMachine
from bitreplay.engine.reference import ReferenceMachine
from tests.engine.law.case import Case, Held

SAMPLES, OUTPUTS, CHANNELS, SIZE = 4, 4, 5, 4
START = 1 << 20  # of 32 bits, so that a step is many units and rounding is nothing


@pytest.mark.parametrize("machine", [ReferenceMachine, NativeMachine])
def test_a_step_is_that_of_the_float_network(machine):
    """v = K w with one K for the layer: its step is K times that of w by autograd, outputs of any scale alike."""
    torch = pytest.importorskip("torch")
    from bitreplay.torch.models.binarize import BinaryConv2d

    torch.manual_seed(0)
    conv = BinaryConv2d(CHANNELS, OUTPUTS, magnitude_aware=True).double()
    with torch.no_grad():  # scales from 1/50 to 8/50
        signs = torch.where(conv.weight >= 0, 1.0, -1.0)
        conv.weight.copy_(signs * torch.tensor([1.0, 2.0, 5.0, 8.0]).view(-1, 1, 1, 1) / 50)
    x = torch.where(torch.randn(SAMPLES, CHANNELS, SIZE, SIZE) >= 0, 1.0, -1.0).double()
    by_output = torch.randint(-9000, 9000, (SAMPLES, OUTPUTS, SIZE, SIZE)).double()
    conv(x).backward(by_output / conv.scale().view(1, -1, 1, 1))  # so by the sums it is integers
    units = START / float(conv.scale().mean())

    start = by_scale(START, 1 << 31, np.array([1, 2, 5, 8]))
    assert start == pytest.approx((units * conv.scale()).numpy(), abs=0.5)
    latent = conv.signs().permute(0, 2, 3, 1).numpy() * start.reshape(-1, 1, 1, 1)
    case = Case(
        "a step", "latent_update",
        {"latent": Held("int32", False, latent.astype(int).tolist()),
         "g": Held("int16", True, by_output.permute(0, 2, 3, 1).long().tolist()),
         "e": Held("int32", True, [0] * SAMPLES),
         "x": Held("uint64", True, pack(x.permute(0, 2, 3, 1).numpy() > 0).tolist())},
        {"channels": CHANNELS, "stride": 1, "pad": 1, "padding": 0, "bits": 32, "up": 0,
         "mantissa": 1 << 30, "shift": 30, "number": 5},
        {"samples": SAMPLES, "seed": 1, "step": 0, "rate_mantissa": 1 << 30, "rate_shift": 28},  # 4, of the mean
    )  # fmt: skip
    moved = latent - np.array(case.found(machine)["latent"])
    assert conv.weight.grad is not None
    # one constant for all outputs, here 1
    assert moved == pytest.approx(conv.weight.grad.permute(0, 2, 3, 1).numpy(), rel=1e-12)
