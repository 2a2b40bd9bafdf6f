"""Learning by sums on ARM equals the reference, in memory that ends at a guard page, under qemu-user."""

from __future__ import annotations

import pytest

from tests.arm.emulator import ALL, emulate, needs_arm
from tests.engine.paths.sums_cases import every_size, expected, extremes, file_of


@needs_arm
@pytest.mark.parametrize("path", ALL)
def test_sums_equal_the_reference_on_arm(path, tmp_path, record_property):
    record_property("path", f"{path} on ARM")
    cases = [*every_size(), *extremes()]
    (tmp_path / "cases").write_bytes(b"".join(file_of(case) for case in cases))
    done = emulate(path, "sums", str(tmp_path / "cases"), str(tmp_path / "results"))
    assert done.stdout.split()[1] == str(len(cases))
    results = (tmp_path / "results").read_bytes()
    for case in cases:
        right = expected(case)
        assert results[: len(right)] == right, (path, case.start.n_features, case.start.classes, len(case.x))
        results = results[len(right) :]
    assert not results
