"""The core as a package for C and C++: its own tests by `ctest`; installed, found by CMake and pkg-config, linked
statically by C without a C++ compiler; compiled from its exported sources."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bitreplay import Learner, __version__
from bitreplay.engine import native
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


FINDS = """
cmake_minimum_required(VERSION 3.20)
set(PACKAGE_FIND_NAME bitreplay)
foreach(wanted ${WANTED})
  set(PACKAGE_FIND_VERSION ${wanted})
  string(REPLACE "." ";" numbers ${wanted})
  list(LENGTH numbers PACKAGE_FIND_VERSION_COUNT)
  list(APPEND numbers 0 0)
  list(GET numbers 0 PACKAGE_FIND_VERSION_MAJOR)
  list(GET numbers 1 PACKAGE_FIND_VERSION_MINOR)
  list(GET numbers 2 PACKAGE_FIND_VERSION_PATCH)
  unset(PACKAGE_VERSION_COMPATIBLE)
  include(${FILE})
  if(PACKAGE_VERSION_COMPATIBLE)
    message("${wanted} yes")
  else()
    message("${wanted} no")
  endif()
endforeach()
message("is ${PACKAGE_VERSION}")
"""
BESIDE = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # pip's cmake and ninja lie there


needs_cmake = pytest.mark.skipif(shutil.which("cmake", path=BESIDE) is None, reason="cmake is not installed")


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PATH": BESIDE})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def build() -> Path:
    """Where the package was built, and its own tests passed."""
    build = ROOT / "build" / "package"
    python = f"-DPython3_EXECUTABLE={sys.executable}"
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DBITREPLAY_PACKAGE=ON", python, "--log-level=WARNING")
    run("cmake", "--build", build)
    passed = run("ctest", "--test-dir", build, "--output-on-failure")
    for name in ("life", "states", "old_states", "sources"):
        assert re.search(rf" {name} \.+ +Passed", passed), passed
    return build


@pytest.mark.slow
@needs_cmake
def test_exported_sources_make_learners_of_both_strategies(build, tiny_model, tmp_path):
    """`ctest` has compiled each of them alone, without an option but the language (core/tests/sources.sh)."""
    sources = build / "core" / "tests" / "sources"
    objects = [source.with_suffix(".o") for source in sorted(sources.glob("*.cc"))]
    assert len(objects) > 40
    settings: dict[str, Any] = {"batch_size": 2, "replay_batch_size": 4, "memory_per_class": 4}
    for strategy, more in (("exact", {}), ("replay", settings)):
        device = tmp_path / strategy
        learner = Learner.from_pretrained(tiny_model, strategy=strategy, **more)
        promised = write_folder(learner, device, 8, "linux")["main_prints"]
        for name in ("main", "model"):
            run("cc", "-std=c99", "-O1", "-I", sources, "-c", device / f"{name}.c", "-o", device / f"{name}.o")
        run("c++", device / "main.o", device / "model.o", *objects, "-o", device / "main")
        assert run(device / "main").strip() == promised


@pytest.mark.slow
@needs_cmake
def test_an_installed_package_is_found_and_runs(build, tiny_model, tmp_path):
    prefix, device = tmp_path / "prefix", tmp_path / "device"
    run("cmake", "--install", build, "--prefix", prefix)
    promised = write_folder(Learner.from_pretrained(tiny_model, strategy="exact"), device, 8, "linux")["main_prints"]
    (device / "CMakeLists.txt").write_text(USER)
    run("cmake", "-S", device, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "main").strip() == promised
    described = (prefix / "lib" / "pkgconfig" / "bitreplay.pc").read_text()
    assert f"Version: {release(__version__)}\n" in described and "-lbitreplay" in described
    if shutil.which("pkg-config"):
        flags = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "bitreplay"], capture_output=True, text=True, check=True,
            env=os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")},
        ).stdout.split()  # fmt: skip
        run("cc", "-std=c99", device / "main.c", device / "model.c", *flags, "-o", tmp_path / "by_pkg_config")
        assert run(tmp_path / "by_pkg_config").strip() == promised
    (tmp_path / "abi.c").write_text(ABI)
    run("cc", "-std=c99", f"-I{prefix / 'include'}", tmp_path / "abi.c", prefix / "lib" / "libbitreplay.a", "-o",
        tmp_path / "abi")  # fmt: skip
    run(tmp_path / "abi")


def release(version: str) -> str:
    """The numbers of a version: 0.3.0 of 0.3.0.dev0."""
    return ".".join(re.findall(r"^(\d+)\.(\d+)\.(\d+)", version)[0])


@needs_cmake
def test_the_package_is_compatible_within_its_minor_version(tmp_path):
    """Configured without being built: one version for Python, C and CMake, and the policy of docs/c.md."""
    run("cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", "-DBITREPLAY_PACKAGE=ON", "--log-level=WARNING")
    major, minor, patch = map(int, release(__version__).split("."))
    wanted = {
        f"{major}.{minor}": "yes",
        f"{major}.{minor}.{patch}": "yes",
        f"{major}.{minor}.{patch + 1}": "no",
        f"{major}.{minor + 1}": "no",
        f"{major + 1}.{minor}": "no",
        f"{major + 1}.0": "no",
    }
    if minor:
        wanted[f"{major}.{minor - 1}"] = "no"
    (tmp_path / "finds.cmake").write_text(FINDS)
    file = tmp_path / "bitreplayConfigVersion.cmake"
    listed = run("cmake", f"-DFILE={file}", f"-DWANTED={';'.join(wanted)}", "-P", tmp_path / "finds.cmake").split("\n")
    assert dict(line.split() for line in listed if line) == {**wanted, "is": release(__version__)}


def test_the_library_has_the_version_and_the_interface_of_its_headers():
    core = ctypes.CDLL(str(native.LIBRARY))
    core.br_version.restype = ctypes.c_char_p
    header = (ROOT / "core" / "include" / "bitreplay.h").read_text()
    assert core.br_version().decode() == __version__
    assert core.br_abi() == int(re.findall(r"^#define BR_ABI (\d+)$", header, re.MULTILINE)[0])
