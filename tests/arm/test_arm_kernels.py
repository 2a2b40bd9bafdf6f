"""Every kernel of the ARM build equals the reference, in buffers that end at a guard page, under qemu-user."""

from __future__ import annotations

import pytest

from tests.arm.emulator import PATHS, arenas, needs_arm
from tests.engine.paths.every_case import EVERY


@needs_arm
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kernel", EVERY)
def test_a_kernel_equals_the_reference_on_arm(kernel, path, tmp_path):
    cases = [(case, last) for case in EVERY[kernel]() for last in case.operands]
    assert len(cases) >= 40
    for (case, last), (expected, found) in zip(cases, arenas(path, tmp_path, cases), strict=True):
        assert expected == found, (path, case.operation, case.label, "last:", last)
