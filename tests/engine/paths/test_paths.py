"""Every kernel on every instruction set of this machine equals the reference, in buffers that end at a guard page."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bitreplay.engine import layers as layers
from bitreplay.engine import native
from tests.engine.paths.every_case import EVERY
from tests.engine.paths.one_record import check, guarded

BUILT, AVAILABLE = native.built_isas(), native.available_isas()


@pytest.mark.parametrize("path", BUILT)
@pytest.mark.parametrize("kernel", EVERY)
def test_a_kernel_equals_the_reference(kernel, path, record_property):
    record_property("path", path)
    if path not in AVAILABLE:
        pytest.skip(f"This CPU lacks the instruction set {path}: the kernel {kernel} was not tested on it.")
    count = 0
    for case in EVERY[kernel]():
        check(case, path)
        count += 1
    assert count >= 20


def test_which_paths_are_covered():
    """What a machine can run must be built and tested; the end of the run says which (tests/conftest.py)."""
    assert "scalar" in AVAILABLE and set(AVAILABLE) <= set(BUILT)
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    sets = (("avx2", " avx2 "), ("avxvnni", " avx_vnni "), ("avx512", " avx512_vpopcntdq "))
    has = {name for name, flag in sets if flag in flags and (name != "avxvnni" or name in BUILT)}
    if platform.machine() in ("aarch64", "arm64"):
        has = {"neon"}
    assert has <= set(AVAILABLE), f"this CPU has {has}, the library uses {AVAILABLE}"


def test_the_guard_page_guards():
    code = "import numpy as np, ctypes; from tests.engine.paths.one_record import guarded; " \
           "a = guarded(np.zeros(5000, np.uint8)); a[-1] = 1; ctypes.memset(a.ctypes.data + 5000, 1, 1)"  # fmt: skip
    root = Path(__file__).resolve().parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True).returncode < 0
    assert guarded(np.arange(100, dtype=np.uint8))[-1] == 99
