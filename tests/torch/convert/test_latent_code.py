"""Level codes: thresholds, values, and what is left of a channel."""

import numpy as np
import pytest

from bitreplay.torch.convert.latent_code import as_real, channel_code, decode, latent_code, lloyd

RNG = np.random.default_rng(5)
CHANNELS = {
    "both signs": RNG.normal(0.3, 1, 4000),
    "never negative": np.maximum(RNG.normal(0.5, 1, 4000), 0),
    "hardly negative": RNG.normal(4, 1.5, 4000),
    "constant": np.full(100, 2.5),
    "zero": np.zeros(100),
    "two values": RNG.choice([-1.0, 3.0], 4000),
    "one outlier": np.concatenate([RNG.normal(0, 0.01, 999), [1000.0]]),
}


@pytest.mark.parametrize("bits", [1, 2, 4])
@pytest.mark.parametrize("name", CHANNELS)
def test_thresholds_ascend_and_values_lie_between_them(name, bits):
    cuts, values = channel_code(CHANNELS[name], bits)
    assert cuts.shape == (2**bits - 1,) and values.shape == (2**bits,)
    assert (np.diff(cuts) >= 0).all() and np.isfinite(values).all()
    assert (values[:-1] <= cuts + 1e-12).all() or bits == 1
    assert (values[1:] >= cuts - 1e-12).all() or bits == 1


def test_one_bit_keeps_the_sign_and_the_mean_size():
    x = CHANNELS["both signs"]
    cuts, values = channel_code(x, 1)
    assert cuts.tolist() == [0.0] and values == pytest.approx([-np.abs(x).mean(), np.abs(x).mean()])


@pytest.mark.parametrize("bits", [2, 4])
def test_more_bits_keep_the_sign_exactly(bits):
    x = CHANNELS["both signs"]
    code = latent_code(x[:, None].astype(np.float32), bits)
    assert 0.0 in as_real(code.thresholds)
    decoded = decode(x[:, None].astype(np.float32), code)[:, 0]
    assert np.array_equal(decoded >= 0, x >= 0)


def test_a_channel_that_is_never_negative_still_keeps_something():
    x = CHANNELS["never negative"]
    cuts, values = channel_code(x, 1)
    assert 0 < values[0] < cuts[0] < values[1]
    assert 0.2 < (x >= cuts[0]).mean() < 0.8
    assert values == pytest.approx([x[x < cuts[0]].mean(), x[x >= cuts[0]].mean()], abs=0.02)


def test_more_bits_lose_less():
    x = np.stack([CHANNELS["both signs"], CHANNELS["never negative"]], axis=1).astype(np.float32)
    errors = [float(((decode(x, latent_code(x, bits)) - x) ** 2).mean()) for bits in (1, 2, 4)]
    assert errors[0] > 2 * errors[1] > 8 * errors[2]


def test_lloyd_finds_the_known_quantiser_of_a_normal_variable():
    """Max (1960): four levels at +-0.4528 and +-1.510, thresholds 0 and +-0.9816."""
    cuts, values = lloyd(np.sort(np.random.default_rng(0).normal(0, 1, 200_000)), 4)
    assert values == pytest.approx([-1.510, -0.4528, 0.4528, 1.510], abs=0.02)
    assert cuts == pytest.approx([-0.9816, 0, 0.9816], abs=0.02)
