"""Every operation equals the reference on every instruction set of this machine, in the shapes that hypothesis finds.

BITREPLAY_EXAMPLES sets how many for each operation (`make test-slow`: many, and other ones each time).
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bitreplay.engine import native
from tests.engine.paths.one_record import compare
from tests.engine.paths.random_shapes import SHAPES

EXAMPLES = int(os.environ.get("BITREPLAY_EXAMPLES", "25"))
PROFILE = settings(
    max_examples=EXAMPLES, deadline=None, derandomize="BITREPLAY_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip


@pytest.mark.parametrize("operation", SHAPES)
def test_every_path_equals_the_reference(operation, record_property):
    for path in native.available_isas():
        record_property("path", path)
    before = native.isa()
    ran = set()

    @PROFILE
    @given(case=SHAPES[operation], last=st.integers(0, 10))
    def holds(case, last):
        compare(case, native.available_isas(), list(case.operands)[last % len(case.operands)])
        ran.add(case.label)

    try:
        holds()
    finally:
        native.set_isa(before)
    assert len(ran) >= min(EXAMPLES, 5)
