"""Every operation, in the reference and on every path of the native core, against its oracle on random inputs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bitreplay.engine import layers as layers
from bitreplay.engine import native
from bitreplay.engine.reference import ReferenceMachine
from tests.engine.law.case import makers
from tests.engine.law.random.draw import Draw

MAKERS = makers()
CASES = 40


@pytest.fixture(params=native.available_isas())
def path(request) -> Iterator[str]:
    before = native.isa()
    native.set_isa(request.param)
    yield request.param
    native.set_isa(before)


@pytest.mark.parametrize("operation", sorted(MAKERS))
def test_the_reference_equals_the_oracle(operation):
    for seed in range(CASES):
        case = MAKERS[operation](Draw(seed))
        assert case.found(ReferenceMachine) == case.expected(), (operation, seed)


@pytest.mark.parametrize("operation", sorted(MAKERS))
def test_the_native_core_equals_the_oracle(path, operation):
    for seed in range(0, CASES, 4):
        case = MAKERS[operation](Draw(seed))
        assert case.found(native.NativeMachine) == case.expected(), (operation, seed)
