"""The exact learner on microcontrollers that qemu emulates, compared with Python: `make test-mcu`.

The zoo's smallest model in 1 MB of flash and 512 KB of RAM (the linker script refuses more) learns three classes from
pictures, loses power in the middle of saves, restarts, answers and forgets, with the same hashes as in Python.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner, zoo
from bitreplay.export import image_of
from bitreplay.planning.on_device import on_device
from bitreplay.settings import Settings
from tests.mcu.images import (
    CLASSES,
    CUTS,
    EMBEDDED,
    FIRST,
    NAMES,
    RISC_V,
    ROOT,
    build_image,
    code_bytes,
    exported_sizes,
    pictures,
    sizes,
    write_demo,
)

# A Cortex-M0+'s code runs on a Cortex-M3 that allows no unaligned access: qemu's board with a Cortex-M0 has 16 KB.
BOARDS = {
    "cortex-m0plus": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m7": "mps2-an500",
    "cortex-m33": "mps2-an505",
    "cortex-m55": "mps3-an547",
}
FLASH, RAM = 1 << 20, 512 << 10
SETTINGS: dict[str, Any] = {"strategy": "exact", "feature_layers": "head"}
SMALL: dict[str, Any] = {"strategy": "exact", "n_components": 64}  # with four classes, in the 264 KB of an RP2040
REACT, EFFICIENT = "react_tiny", "efficientnet_tiny"
TICK = 40  # instructions of a tick: -icount counts a nanosecond for each, and the boards' SysTick has 25 MHz
TICKS = {"cortex-m33": 50, "cortex-m55": 31.25, RISC_V: 1}

missing = [tool for tool in ("arm-none-eabi-g++", "qemu-system-arm", "cmake") if shutil.which(tool) is None]
no_risc_v = [tool for tool in ("riscv64-unknown-elf-g++", "qemu-system-riscv32") if shutil.which(tool) is None]
needs_risc_v = pytest.mark.skipif(bool(no_risc_v), reason=f"{' and '.join(no_risc_v)} are not installed")
pytestmark = [
    pytest.mark.skipif("BITREPLAY_MCU" not in os.environ, reason="make test-mcu runs the microcontrollers"),
    pytest.mark.skipif(bool(missing), reason=f"{' and '.join(missing)} are not installed"),
]


@pytest.fixture(scope="module")
def demo() -> Path:
    return write_demo(Learner.from_pretrained("react_tiny", **SETTINGS))


def output_of(image: Path, cpu: str) -> list[tuple[str, str]]:
    machine = ["qemu-system-riscv32", "-machine", "virt", "-bios", "none", "-m", "8M"]
    if cpu in BOARDS:
        machine = ["qemu-system-arm", "-machine", BOARDS[cpu]]
    command: list[str | Path] = [*machine, "-kernel", image, "-nographic", "-monitor", "none", "-serial", "none"]
    command += ["-semihosting-config", "enable=on,target=native", "-icount", "shift=0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in text.splitlines() if " " in line]


CASES: list[Any] = [
    *((REACT, cpu) for cpu in BOARDS),
    *((EFFICIENT, cpu) for cpu in ("cortex-m0plus", "cortex-m4", "cortex-m33")),
    *(pytest.param(name, RISC_V, marks=needs_risc_v) for name in (REACT, EFFICIENT)),
]


@pytest.mark.parametrize(("name", "cpu"), CASES)
def test_a_microcontroller_learns_as_python_does(name, cpu, demo, record_property):
    small = cpu == "cortex-m0plus" or name == EFFICIENT
    settings, classes = (SMALL, 4) if small else (SETTINGS, CLASSES)
    desk, learner = (Learner.from_pretrained(name, **settings) for _ in range(2))
    image = build_image(write_demo(desk, f"{name}-small", classes) if small else demo, cpu)
    lines = output_of(image, cpu)
    images = pictures()
    learner.learn(images[:FIRST], NAMES[:FIRST])
    first = learner.state_hash()
    learner.learn(images[FIRST:], NAMES[FIRST:])
    learned, answers = learner.state_hash(), learner.predict(images).tolist()
    learner.forget("red")
    hashes = [pair for pair in lines if pair[0] in ("first", "back", "learned", "forgotten", "loaded")]
    after = [("learned", learned), ("forgotten", learner.state_hash()), ("loaded", learner.state_hash())]
    assert hashes == [("first", first), *[("back", first)] * CUTS, *after]
    assert [value for key, value in lines if key == "answer"] == answers == NAMES
    figures = {key: int(value) for key, value in lines if value.isdigit()}
    flash, ram = sizes(image)
    assert flash <= FLASH and ram <= RAM
    assert desk.model is not None
    planned = on_device(desk.model, Settings(**settings), classes, cpu)
    without_main = code_bytes(image) + len(image_of(desk))
    assert abs(planned.flash - without_main) <= 0.02 * without_main
    assert abs(planned.ram - ram) <= 0.02 * ram
    promised = exported_sizes(desk, classes).total
    assert 0.98 * promised <= figures["memory"] <= promised
    tick = TICKS.get(cpu, TICK)
    counted = figures["ticks_learn"] * tick
    assert abs(planned.picture_instructions - counted) <= 0.02 * counted
    record_property(
        "figure",
        f"{name}, {cpu}: flash {flash} bytes, RAM {ram}, of it the learner {figures['memory']} "
        f"(network {figures['network']}, state {figures['state']}, answers {figures['answers']}, "
        f"work {figures['work']}); instructions: "
        f"a picture learned {figures['ticks_learn'] * tick:.3g}, predicted {figures['ticks_predict'] * tick:.3g}, "
        f"the discriminant {figures['ticks_ready'] * tick:.3g}",
    )


UNALIGNED = """
#include "board.h"
static uint32_t words[2], *volatile place = (uint32_t*)((char*)words + OFFSET); /* unknown to the compiler */
int main(void) { return (int)*place; }
"""


@pytest.mark.parametrize(("offset", "says"), [(0, ""), (1, "fault\n"), (2, "fault\n")])
def test_where_a_cortex_m0plus_faults_the_board_does(offset, says, tmp_path):
    (tmp_path / "main.c").write_text(UNALIGNED)
    mcu, image = EMBEDDED / "mcu", tmp_path / "image"
    command: list[str | Path] = ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb", "-O2", f"-DOFFSET={offset}"]
    command += [
        "-DBITREPLAY_BOARD_m0plus",
        f"-I{mcu}",
        "-nostartfiles",
        "--specs=nosys.specs",
        "-Wl,--no-warn-rwx-segments",
    ]
    command += [f"-L{mcu}", f"-T{mcu / 'm0plus.ld'}", tmp_path / "main.c", mcu / "startup.c", "-o", image]
    subprocess.run(command, check=True)
    words = ["qemu-system-arm", "-machine", BOARDS["cortex-m0plus"], "-kernel", image, "-nographic", "-monitor", "none"]
    words += ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.stdout + done.stderr, done.returncode) == (says, 3 if says else 0)


def test_an_image_has_no_heap_no_stdio_and_no_floating_point(demo):
    """The linker's map names everything that is in it."""
    text = (build_image(demo, "cortex-m7").parent / "mcu_demo.map").read_text()
    linked = text[text.index("Linker script and memory map") :]
    for word in ("malloc", "_sbrk", "calloc", "printf", "getenv", "__aeabi_dadd", "__aeabi_fadd", "__aeabi_dmul"):
        assert not re.search(rf"^ \.text\.?_?{word}\w*\s*\n?\s+0x0*[1-9a-f]", linked, re.MULTILINE), word
    assert ".text.br_learner_predict" in linked


NUMBERS = """
import sys
import numpy as np
from tests.core.c_learner import CLearner

found = []
for name in sys.argv[2:]:
    learner = CLearner(open(f"{sys.argv[1]}/{name}", "rb").read(), room=96 << 20)
    found.append(learner.extract(np.load(f"{sys.argv[1]}/picture.npy")))
np.save(f"{sys.argv[1]}/found.npy", np.concatenate(found))
"""


def test_the_library_for_devices_gives_the_numbers_of_every_model(tmp_path):
    """Weights read where they lie, on the desk: networks with padding of zeros and of ones, and many channels."""
    folder = ROOT / "build" / "mcu" / "desk"
    command: list[str | Path] = ["cmake", "-S", EMBEDDED, "-B", folder, "-G", "Ninja", "-DBUILD_SHARED_LIBS=ON"]
    again: list[str | Path] = ["cmake", "--build", folder, "--target", "bitreplay_embedded"]
    for step in (command, again):
        done = subprocess.run(step, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    picture = np.random.default_rng(0).integers(0, 256, (50, 70, 3), np.uint8)
    np.save(tmp_path / "picture.npy", picture)
    models = [name for name in zoo.names() if name not in ("react18", "quicknet_large")]  # alike but for their size
    right = []
    for name in models:
        learner = Learner.from_pretrained(name, strategy="exact")
        (tmp_path / name).write_bytes(image_of(learner))
        right.append(learner.encode(picture)[0])
    environment = os.environ | {"BITREPLAY_LIBRARY": str(folder / "libbitreplay_embedded.so")}
    words = [sys.executable, "-c", NUMBERS, str(tmp_path), *models]
    done = subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "found.npy"), np.concatenate(right))
