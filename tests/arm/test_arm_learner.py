"""The learner in C on ARM: photographs learned under qemu-user end in the desk's hash."""

from __future__ import annotations

import pytest

from bitreplay.export import image_of
from tests.arm.emulator import ALL, emulated, needs_arm
from tests.hashes import sixty

FEW = 3  # classes, and pictures of each; `make hashes` has all


@needs_arm
@pytest.mark.parametrize("path", ALL)
def test_photographs_learned_on_arm_end_in_the_desk_s_hash(path, tmp_path, record_property):
    record_property("path", f"{path} on ARM")
    (tmp_path / "model.bin").write_bytes(image_of(sixty.learner()))
    desk, images = sixty.learner(), sixty.pictures()
    for number, (label, paths) in enumerate(sixty.write_files(tmp_path)[:FEW]):
        words = [tmp_path / "model.bin", tmp_path / "state", "learn", label, *paths[:FEW]]
        output = emulated(path, "learn", *map(str, words)).stdout.split()[-1]
        desk.learn(images[number * sixty.EACH :][:FEW], [label] * FEW)
        assert output == desk.state_hash()
