"""The instruction set that the ARM build chooses by itself is one that the CPU has."""

from __future__ import annotations

import pytest

from bitreplay.engine.bit_widths import Bits
from tests.arm.emulator import emulated, needs_arm
from tests.engine import networks

PROGRAM = networks.tail((3, 3, 40), Bits(8, 1, 16), samples=1)


@needs_arm
@pytest.mark.parametrize(
    "cpu, expected",
    [("cortex-a53", "neon"), ("cortex-a72", "neon"), ("cortex-a76", "dotprod"), ("max", "dotprod")],
)
def test_the_set_is_chosen_by_the_cpu(cpu, expected, tmp_path):
    (tmp_path / "program").write_bytes(PROGRAM.to_bytes())
    assert emulated("", "count", str(tmp_path / "program"), "4", "1", cpu=cpu).stdout.split() == [expected]


@needs_arm
def test_a_set_that_the_cpu_lacks_is_refused(tmp_path):
    (tmp_path / "program").write_bytes(PROGRAM.to_bytes())
    with pytest.raises(AssertionError, match="dotprod"):
        emulated("dotprod", "count", str(tmp_path / "program"), "4", "1", cpu="cortex-a72")
