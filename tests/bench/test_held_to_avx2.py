"""A library whose cpuid instructions are answered sees a CPU that ends at AVX2, and all else as it is."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = """
#include <cpuid.h>
void ask(unsigned leaf, unsigned subleaf, unsigned* r) { __cpuid_count(leaf, subleaf, r[0], r[1], r[2], r[3]); }
const unsigned char bytes_in_data[] = {0x0f, 0xa2, 0x0f, 0xa2};
"""
ASK = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
from benchmarks.bench import held_to_avx2
def ask(library, leaf, subleaf):
    registers = (ctypes.c_uint32 * 4)()
    library.ask(leaf, subleaf, registers)
    return list(registers)
free = ctypes.CDLL(sys.argv[1] + "/onnxruntime/capi/onnxruntime_pybind11_state.so")
print(held_to_avx2.hold())
import onnxruntime
held = ctypes.CDLL(onnxruntime.__path__[0] + "/capi/onnxruntime_pybind11_state.so")
assert held._name != free._name
assert ask(held, 0, 0) == ask(free, 0, 0) and ask(held, 1, 0)[2] == ask(free, 1, 0)[2]
(a, b, c, d), real = ask(held, 7, 0), ask(free, 7, 0)
assert a == real[0]
assert b == real[1] & ~sum(1 << n for n in (16, 17, 21, 26, 27, 28, 30, 31)) and b >> 5 & 1 == real[1] >> 5 & 1
assert c == real[2] & ~sum(1 << n for n in (1, 6, 11, 12, 14))
assert d == real[3] & ~sum(1 << n for n in (2, 3, 8, 22, 23, 24, 25))
assert ask(held, 7, 1) == [0] * 4
assert list((ctypes.c_uint8 * 4).in_dll(held, "bytes_in_data")) == [0x0f, 0xa2] * 2
"""


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="cpuid, and Linux's signals")
@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("objdump")), reason="no C compiler or no objdump")
def test_what_came_after_avx2_is_left_out(tmp_path: Path):
    capi = tmp_path / "onnxruntime" / "capi"
    capi.mkdir(parents=True)
    (capi.parent / "__init__.py").touch()
    (tmp_path / "library.c").write_text(LIBRARY)
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", str(tmp_path / "library.c"),
                    "-o", str(capi / "onnxruntime_pybind11_state.so")], check=True)  # fmt: skip
    run = subprocess.run([sys.executable, "-c", ASK, str(tmp_path)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("held to AVX2: 1 cpuid instructions")
