"""The learner in C on ARM: photographs learned under qemu-user end in the desk's hash."""

from __future__ import annotations

import pytest

from bitreplay.export import image_of
from tests.arm.emulator import PATHS, emulated, needs_arm
from tests.hashes import sixty


@needs_arm
@pytest.mark.parametrize("path", PATHS)
def test_photographs_learned_on_arm_end_in_the_desk_s_hash(path, tmp_path, record_property):
    record_property("path", f"{path} on ARM")
    (tmp_path / "model.bin").write_bytes(image_of(sixty.learner()))
    said = ""
    for label, paths in sixty.write_files(tmp_path):
        words = [tmp_path / "model.bin", tmp_path / "state", "learn", label, *paths]
        said = emulated(path, "learn", *map(str, words)).stdout.split()[-1]
    assert said == sixty.learned().state_hash()
