"""The package for a Raspberry Pi Pico on rp2040js: a Cortex-M0+ and the RP2040's memory, with the desk's hash.

qemu has no Cortex-M0+ with enough RAM (docs/boards.md); rp2040js, of npm, has, and is slow: the network here is small.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bitreplay import Learner
from bitreplay.export.packages import write_package
from tests.device.compiling import compile_all
from tests.mcu.images import EMBEDDED

HERE, MCU = Path(__file__).with_name("rp2040"), EMBEDDED / "mcu"
PACKAGES = Path(os.environ.get("BITREPLAY_NODE", ""))
FLAGS = ["-mcpu=cortex-m0plus", "-mthumb", "-O2", "-ffunction-sections", "-fdata-sections", "-I", str(MCU)]
CXX = ["arm-none-eabi-g++", "-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
LINK = ["-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs", "-Wl,--gc-sections", f"-L{MCU}"]
pytestmark = [
    pytest.mark.skipif("BITREPLAY_MCU" not in os.environ, reason="make test-mcu builds and runs the image."),
    pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="gcc-arm-none-eabi is not installed."),
    pytest.mark.skipif(
        shutil.which("node") is None or not (PACKAGES / "rp2040js").is_dir(),
        reason="Node or npm's rp2040js is not installed: no RP2040 was emulated.",
    ),
]


def image_of(folder: Path, program: Path) -> Path:
    """Of a package and a program, as bytes of flash."""
    flags = [*FLAGS, "-I", str(folder / "src")]
    objects = compile_all(folder, folder.parent / "objects", ["arm-none-eabi-gcc", *flags], [*CXX, *flags])
    linked, image = folder.with_suffix(".elf"), folder.with_suffix(".bin")
    sources = [program, MCU / "startup.c", *objects]
    words = ["arm-none-eabi-gcc", *flags, *map(str, sources), *LINK, f"-T{HERE / 'rp2040.ld'}", "-o", str(linked)]
    subprocess.run(words, check=True)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", linked, image], check=True)
    return image


def run(image: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["node", HERE / "run.mjs", PACKAGES, image], capture_output=True, text=True)


def test_a_pico_ends_in_the_desks_hash(tiny_model, tmp_path, record_property):
    learner = Learner.from_pretrained(tiny_model, strategy="exact")
    about = write_package("pico", learner, tmp_path / "bitreplay", 4, "rp2040")
    done = run(image_of(tmp_path / "bitreplay", HERE / "main.c"))
    assert (done.returncode, done.stdout.split()) == (0, [about["main_prints"], "light"]), done.stderr
    record_property("figure", f"a Pico on rp2040js: two pictures and an answer, {done.stderr.strip()}")


@pytest.mark.parametrize(
    ("lacking", "says"),
    [
        ('__asm__ volatile("ldr %0, [%0]" : "+l"(at));', "is not aligned"),
        ('__asm__ volatile("strh %0, [%0]" : "+l"(at));', "is not aligned"),
        ('__asm__ volatile(".short 0xfbb0, 0xf0f1");', "is not implemented"),  # udiv, which a Cortex-M3 has
        ("(void)*(volatile uint32_t*)0x30000000;", "invalid memory address"),
        ("words[1] = 1;", ""),
    ],
)
def test_what_a_cortex_m0plus_lacks_ends_the_run(tmp_path, lacking, says):
    package, program = tmp_path / "bitreplay", tmp_path / "program.c"
    (package / "src").mkdir(parents=True)
    program.write_text(
        '#include "board.h"\nstatic volatile uint32_t words[2];\n'
        f"int main(void) {{ uintptr_t at = (uintptr_t)words + 1; {lacking} words[0] = at; return 0; }}\n"
    )
    done = run(image_of(package, program))
    assert done.returncode == bool(says) and says in done.stderr
