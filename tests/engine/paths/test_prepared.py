"""What is made when a program is opened, and kept with its packed weights, for kernels that then run without it."""

from __future__ import annotations

import numpy as np
import pytest

from bitreplay.engine import native
from tests.engine.paths.affine_cases import affine
from tests.engine.paths.conv_cases import binary_conv_case
from tests.engine.paths.one_record import Case, program_of

X86 = ("avx2", "avxvnni", "avx512")


@pytest.fixture(params=native.available_isas())
def path(request):
    before = native.isa()
    native.set_isa(request.param)
    yield request.param
    native.set_isa(before)


def packed(case: Case) -> int:
    return native.footprint(program_of(case, list(case.operands)[-1])).packed_weights


def test_numbers_of_constant_channels_are_made_once(path):
    """Of sums of 16 bits that become bytes: the pairs of kernels/affine/pairs_of_sums.h."""
    kept = {"constant": 0, "arena": 0}
    for case in affine():
        of = case.operands
        pairs = of["x"].content.dtype == np.int16 and all(
            of[role].content.dtype == np.int8 for role in ("y", "residual") if role in of
        )
        made = pairs and of["a"].region == "constant" and path in (*X86, "wasm")
        assert (packed(case) > 0) == made, case.label
        kept[of["a"].region] += made
    assert kept["arena"] == 0 and (kept["constant"] > 20 or path not in (*X86, "wasm"))


def test_what_taps_outside_the_map_add_is_counted_once(path):
    """kernels/binary_conv/outside_taps.h: 32 outputs' sums of 16 bits for each tap, where +1 is read outside."""
    zero, one = (
        packed(binary_conv_case(np.random.default_rng(3), (6, 7, 3, 1, 1), 128, 70, padding)) for padding in (0, 1)
    )
    assert one - zero == (3 * 9 * 32 * 2 if path in X86 else 0)
