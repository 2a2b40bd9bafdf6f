"""The ARM build of the core holds no floating-point arithmetic."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.arm.emulator import FOLDER, needs_arm
from tests.engine.native.test_native_no_float import FORBIDDEN


@needs_arm
def test_the_arm_core_has_no_floating_point_arithmetic():
    library = Path(FOLDER) / "libbitreplay_core.so"
    text = subprocess.check_output(["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", str(library)], text=True)
    names = [line.split("\t")[1].split()[0] for line in text.splitlines() if line.startswith("  ") and "\t" in line]
    assert len(names) > 5000 and "cnt" in names and "tbl" in names, "the disassembly is not the core's"
    assert {name for name in names if FORBIDDEN["aarch64"].match(name)} == set()
