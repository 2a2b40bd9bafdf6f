"""A seeded run of many steps ends in the same state on every instruction set, whatever the bit widths.

`make golden-long` runs ten thousand steps of each (BITREPLAY_GOLDEN_STEPS).
"""

from __future__ import annotations

import hashlib
import os

import pytest

from bitreplay.engine import layers as layers
from bitreplay.engine import native
from bitreplay.engine.bit_widths import Bits
from tests.engine import networks

STEPS = int(os.environ.get("BITREPLAY_GOLDEN_STEPS", "1000"))
WIDTHS = [Bits(8, binary, other) for binary in (1, 4, 8) for other in (8, 16, 32)]
REFERENCE_STEPS = 20


def state_after(machine: native.NativeMachine | native.SlowMachine, steps: int) -> str:
    for step in range(steps):
        networks.feed([machine], 4, seed=step % 5)
        machine.run_step(networks.run_of(4, step))
    return hashlib.sha256(machine.regions["parameter"].tobytes()).hexdigest()


@pytest.mark.parametrize("bits", WIDTHS, ids=str)
def test_all_paths_end_in_the_same_state(bits, record_property):
    program = networks.tail((3, 3, 40), bits, 4, seed=9)
    before = native.isa()
    ends, starts = {}, {}
    try:
        for path in native.available_isas():
            record_property("path", path)
            native.set_isa(path)
            starts[path] = state_after(native.NativeMachine(program), REFERENCE_STEPS)
            ends[path] = state_after(native.NativeMachine(program), STEPS)
    finally:
        native.set_isa(before)
    expected = state_after(native.SlowMachine(program), REFERENCE_STEPS)
    record_property("figure", f"{bits}: {STEPS} steps on {', '.join(ends)} end in {next(iter(ends.values()))[:16]}")
    assert set(ends) == set(native.available_isas()) and "scalar" in ends
    assert set(starts.values()) == {expected}
    assert len(set(ends.values())) == 1 and set(ends.values()) != {expected}
