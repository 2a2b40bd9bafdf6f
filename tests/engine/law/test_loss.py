"""Section 7 of the law: the exponential's accuracy, and rows of gradients that sum to 0."""

from __future__ import annotations

from decimal import Decimal, getcontext

import numpy as np
import pytest

from bitreplay.engine.arithmetic import softmax
from tests.engine.law.case import Case, Held
from tests.engine.law.oracles.head import LOWEST_LOGIT, exp_minus, probabilities

getcontext().prec = 40


def test_the_constants_are_those_of_the_law():
    log2_e = 1 / Decimal(2).ln()
    assert softmax.LOG2_E == int((log2_e * 2**30).to_integral_value())
    assert softmax.EXP2[0] == 2**30, "2^-0 is 1"


def test_the_exponential_is_right_to_28_bits():
    """Against e^-t in 40 digits; t in steps of 1/16 to 22, and every t below 2^-10."""
    steps = [*range(0, 22 << 16, 1 << 12), *range(64)]
    found = softmax.exp_minus(np.array(steps)).tolist()
    worst = max(
        abs(Decimal(value) - (Decimal(-t) / 65536).exp() * 2**30) for t, value in zip(steps, found, strict=True)
    )
    assert worst < 4, worst
    assert found == [exp_minus(t) for t in steps]


@pytest.mark.parametrize("whole", range(0, 40, 3))
def test_the_exponential_falls(whole):
    """Also across the steps of the binary exponent, where the polynomial starts anew: within one unit."""
    t = (whole << 16) + np.arange(0, 1 << 16, 17)
    found = softmax.exp_minus(t)
    assert np.all(np.diff(found) <= 1)


def gradients(logits: list[int], label: int, bits: int, dtype: str) -> dict:
    from bitreplay.engine.reference import ReferenceMachine

    held = {
        "logits": Held("int32", True, [logits]),
        "labels": Held("int32", True, [label]),
        "g": Held(dtype, True, [[0] * len(logits)]),
        "e": Held("int32", True, [0]),
        "p_label": Held("int32", True, [0]),
    }
    return Case("row", "cross_entropy", held, {"bits": bits}).found(ReferenceMachine)


@pytest.mark.parametrize("seed", range(20))
def test_a_row_sums_to_nothing_but_rounding(seed):
    """Exactly 0 before the rounding to q bits; at 24 significant bits within half a unit an element."""
    rng = np.random.default_rng(seed)
    logits = rng.integers(-5 << 16, 5 << 16, 10).tolist()
    found = gradients(logits, seed % 10, 32, "int32")["g"][0]
    assert abs(sum(found)) <= 5
    assert found[seed % 10] < 0 and min(g for c, g in enumerate(found) if c != seed % 10) >= 0


def test_a_memorised_sample_still_has_a_gradient():
    """p = 1 - 449 2^-30 of the label: on an 8-bit grid of probabilities nothing would be left."""
    found = gradients([15 << 16, 0, -(1 << 16)], 0, 8, "int8")
    assert 2**30 - 600 < found["p_label"][0] < 2**30
    # e^-15 and e^-16 are 328 and 121 units of 2^-30; 449 needs two bits more than 8 hold.
    assert found["g"] == [[-112, 82, 30]] and found["e"] == [-46 + 2]


def test_probabilities_add_up_to_1():
    for seed in range(20):
        row = np.random.default_rng(seed).integers(-9 << 16, 9 << 16, 50).tolist() + [LOWEST_LOGIT]
        assert abs(sum(probabilities(row)) - 2**30) <= 25 and probabilities(row)[-1] == 0
