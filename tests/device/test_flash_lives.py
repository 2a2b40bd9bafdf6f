"""States in flash: whenever the power fails, the last one that was saved is there; what was forgotten is not; wear.

`make test-flash` has ten thousand lives of each flash.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.device.compiling import ROOT, compiled, needs_compiler

LIVES = int(os.environ.get("BITREPLAY_FLASH_LIVES", "400"))
MODEL = ROOT / "tests/corpus/model.bin"
pytestmark = needs_compiler


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(
        tmp_path_factory.mktemp("flash") / "flash_lives", ROOT / "core/tools/flash_lives.c", "flash_slots.c"
    )


def lives_of(program: Path, *numbers: int) -> dict[str, Any]:
    done = subprocess.run([program, MODEL, *map(str, numbers)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


# Areas, bytes of a block, bytes that are programmed at once: nRF52840, STM32H7, ESP32 with encryption, RP2040.
@pytest.mark.parametrize(("areas", "block", "unit"), [(3, 4096, 4), (3, 8192, 32), (4, 4096, 16), (8, 4096, 256)])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_state_is_lost_wherever_the_power_fails(program, areas, block, unit, seed, record_property):
    found = lives_of(program, LIVES, seed, areas, block, unit, 3)
    assert found["loads"] == LIVES - 1, "every life but the first finds a state"
    assert found["operations"] < LIVES, "the power failed at each operation of the first life"
    assert found["cuts"] > LIVES // 2 and found["saves"] > LIVES // 2
    if seed == 1:
        record_property(
            "figure",
            f"{areas} areas, blocks of {block}, units of {unit}: {found['lives']} lives, {found['cuts']} cuts, "
            f"{found['saves']} saves, no state lost",
        )


@pytest.mark.parametrize("areas", [3, 4, 8])
def test_blocks_wear_alike_and_an_area_is_erased_once_in_areas_less_one_saves(program, areas):
    saves = 840
    found = lives_of(program, 1, 5, areas, 4096, 256, saves)
    assert found["saves"] == saves and found["cuts"] == 0
    writes = found["erases"] / (found["blocks"] / areas)  # of areas: saves, and those that rewrite both slots
    assert saves <= writes <= 1.5 * saves
    assert found["most"] - found["fewest"] <= 0.05 * found["most"] + 2
