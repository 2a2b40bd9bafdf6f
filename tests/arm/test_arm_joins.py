"""Records that may run joined, on ARM: the bits of the reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arm.emulator import ALL, emulate, needs_arm
from tests.arm.join_programs import cases, check
from tests.engine.paths.cases_file import pairs


@needs_arm
@pytest.mark.parametrize("path", ALL)
def test_joined_records_equal_the_reference_on_arm(path, tmp_path, record_property):
    record_property("path", f"{path} on ARM")
    file, expected = cases()
    Path(tmp_path / "cases").write_bytes(file)
    done = emulate(path, "cases", str(tmp_path / "cases"), str(tmp_path / "results"))
    assert done.stdout.split()[1] == str(len(expected))
    check(expected, pairs([arena for _, arena in expected], (tmp_path / "results").read_bytes()), path)
