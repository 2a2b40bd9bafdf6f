"""The core as a package for C and C++: installed, found by CMake, linked statically by C without a C++ compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bitreplay import Learner, __version__
from bitreplay.export import write_folder

ROOT = Path(__file__).resolve().parents[2]
USER = f"""
cmake_minimum_required(VERSION 3.20)
project(device LANGUAGES C CXX)
find_package(bitreplay {".".join(__version__.split(".")[:3])} REQUIRED)
add_executable(main main.c model.c)
target_link_libraries(main PRIVATE bitreplay::bitreplay)
"""
ABI = """
#include "bitreplay.h"
int main(void) { return br_abi() != BR_ABI; }
"""


BESIDE = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # pip's cmake and ninja lie there


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PATH": BESIDE})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake", path=BESIDE) is None, reason="cmake is not installed")
def test_an_installed_package_is_found_and_runs(tiny_model, tmp_path):
    build, prefix, device = ROOT / "build" / "package", tmp_path / "prefix", tmp_path / "device"
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DBITREPLAY_PACKAGE=ON", "--log-level=WARNING")
    run("cmake", "--build", build)
    run("cmake", "--install", build, "--prefix", prefix)
    promised = write_folder(Learner.from_pretrained(tiny_model, strategy="exact"), device, 8, "linux")["main_prints"]
    (device / "CMakeLists.txt").write_text(USER)
    run("cmake", "-S", device, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "main").strip() == promised
    (tmp_path / "abi.c").write_text(ABI)
    run("cc", "-std=c99", f"-I{prefix / 'include'}", tmp_path / "abi.c", prefix / "lib" / "libbitreplay.a", "-o",
        tmp_path / "abi")  # fmt: skip
    run(tmp_path / "abi")
