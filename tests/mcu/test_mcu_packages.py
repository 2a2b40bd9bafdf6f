"""Packages are compiled as their tools would, with compilers that Debian has; one of them learns to the desk's hash.

ESP-IDF, the Pico's SDK and Arduino's cores are not here: CMake runs the packages' own lists with stand-ins for two
functions of ESP-IDF, and their own flags. Xtensa is an LX106's, which has no C library: its sources are compiled, not
linked.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bitreplay import Learner
from bitreplay.export.packages import write_package
from tests.device.compiling import compile_all
from tests.mcu.images import EMBEDDED, ROOT

STUBS = ROOT / "tests/device/stubs"
SMALL: dict[str, Any] = {"strategy": "exact", "n_components": 64}
pytestmark = pytest.mark.skipif("BITREPLAY_MCU" not in os.environ, reason="make test-mcu compiles packages.")
IDF = """
function(idf_component_register)
  cmake_parse_arguments(IT "" "" "SRCS;INCLUDE_DIRS;REQUIRES" ${ARGN})
  add_library(component STATIC ${IT_SRCS})
  target_include_directories(component PUBLIC ${IT_INCLUDE_DIRS})
  set(COMPONENT_LIB component PARENT_SCOPE)
endfunction()
"""
MAIN = """
#include <stdio.h>
#include <string.h>
#include "bitreplay_device.h"
#include "bitreplay_model.h"
static unsigned char memory[BITREPLAY_LEARNER_BYTES] __attribute__((aligned(64)));
static unsigned char pixels[48 * 48 * 3];
int main(void) {
  br_learner* learner;
  br_learner_options options = {.classes = BITREPLAY_CLASSES};
  char hash[65], error[128];
  if (br_learner_open(bitreplay_model, BITREPLAY_MODEL_BYTES, &options, memory, sizeof memory, &learner, error,
                      sizeof error)) { puts(error); return 1; }
  for (int k = 0; k < 2; ++k) {
    const br_picture picture = {pixels, 48, 48, 3, 0};
    const br_name name = {k ? "light" : "dark", k ? 5 : 4, 0};
    memset(pixels, k ? 230 : 20, sizeof pixels);
    if (br_learner_begin(learner) || br_learner_add(learner, &picture, &name) || br_learner_end(learner)) return 2;
  }
  if (br_learner_hash(learner, hash)) return 3;
  puts(hash);
  return 0;
}
"""


def package(kind: str, target: str, folder: Path) -> Path:
    write_package(kind, Learner.from_pretrained("react_tiny", **SMALL), folder / "bitreplay", 4, target)
    return folder / "bitreplay"


def cmake(source: Path, build: Path, *words: str) -> None:
    configure: list[str | Path] = ["cmake", "-S", source, "-B", build, "-G", "Ninja", *words]
    again: list[str | Path] = ["cmake", "--build", build]
    for step in (configure, again):
        done = subprocess.run(step, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_an_arduino_library_compiled_alone_ends_in_the_desks_hash(tmp_path):
    """With the flags of a core with -std=gnu++14, here for this machine: it can run."""
    folder = package("arduino", "nrf52840", tmp_path)
    flags = ["-O1", "-ffunction-sections", "-I", str(folder / "src")]
    objects = compile_all(
        folder, tmp_path / "o", ["gcc", "-std=gnu11", *flags],
        ["g++", "-std=gnu++14", "-fno-exceptions", "-fno-rtti", *flags],
    )  # fmt: skip
    (tmp_path / "main.c").write_text(MAIN)
    program = tmp_path / "main"
    done = subprocess.run(
        ["gcc", "-I", folder / "src", tmp_path / "main.c", *objects, "-o", program], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = subprocess.check_output([program], text=True).strip()
    assert found == json.loads((folder / "export.json").read_text())["main_prints"]


@pytest.mark.skipif(shutil.which("arm-none-eabi-g++") is None, reason="gcc-arm-none-eabi is not installed.")
def test_a_pico_library_is_built_by_cmake_for_a_cortex_m0plus(tmp_path):
    folder = package("pico", "rp2040", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(teach C CXX)\nadd_subdirectory(bitreplay)\n"
        "add_library(teach STATIC bitreplay/examples/teach/main.c)\ntarget_link_libraries(teach PRIVATE bitreplay)\n"
        f"target_include_directories(teach PRIVATE {STUBS})\n"
    )
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={EMBEDDED / 'arm-none-eabi.cmake'}"
    cmake(tmp_path, tmp_path / "build", toolchain, "-DBITREPLAY_CPU=cortex-m0plus")
    made = tmp_path / "build/bitreplay/libbitreplay.a"
    assert made.stat().st_size > (folder / "src/bitreplay_model.c").stat().st_size // 8
    about = subprocess.check_output(["arm-none-eabi-readelf", "-A", made], text=True)
    assert "Tag_CPU_arch: v6S-M" in about


@pytest.mark.skipif(shutil.which("riscv64-unknown-elf-g++") is None, reason="gcc-riscv64-unknown-elf is not installed.")
def test_an_esp_idf_component_is_built_by_cmake_for_an_esp32_c3s_instruction_set(tmp_path):
    folder = package("esp-idf", "esp32c3", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.16)\nproject(teach C CXX)\n{IDF}\nadd_subdirectory(bitreplay)\n"
        "add_library(teach STATIC bitreplay/examples/teach/main/main.c)\n"
        f"target_link_libraries(teach PRIVATE component)\ntarget_include_directories(teach PRIVATE {STUBS})\n"
    )
    cmake(tmp_path, tmp_path / "build", f"-DCMAKE_TOOLCHAIN_FILE={EMBEDDED / 'riscv32.cmake'}")
    about = subprocess.check_output(
        ["riscv64-unknown-elf-readelf", "-h", tmp_path / "build/bitreplay/libcomponent.a"], text=True
    )
    assert "RISC-V" in about and "ELF64" not in about and folder.is_dir()


@pytest.mark.skipif(shutil.which("xtensa-lx106-elf-g++") is None, reason="gcc-xtensa-lx106 is not installed.")
def test_a_platformio_library_compiles_for_xtensa(tmp_path):
    folder = package("platformio", "esp32", tmp_path)
    flags = ["-O1", "-ffreestanding", "-mlongcalls", "-I", str(folder / "src"), "-I", str(STUBS / "freestanding")]
    cxx = ["xtensa-lx106-elf-g++", "-std=gnu++17", "-fno-exceptions", "-fno-rtti", *flags]
    cxx += ["-isystem", str(EMBEDDED / "freestanding")]
    objects = compile_all(folder, tmp_path / "o", ["xtensa-lx106-elf-gcc", *flags], cxx)
    text = subprocess.check_output(["xtensa-lx106-elf-readelf", "-h", objects[0]], text=True)
    assert "Tensilica Xtensa" in text and len(objects) > 80
