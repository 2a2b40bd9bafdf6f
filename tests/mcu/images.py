"""Images for microcontrollers: what they are built from, how, and how many bytes they have."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np

from bitreplay import Learner
from bitreplay.engine import native
from bitreplay.engine.program import Program
from bitreplay.export import image_of
from bitreplay.export.c_source import operations_header
from bitreplay.export.image import programs_of
from bitreplay.export.learner_sizes import Sizes, sizes_of
from tests.device.test_jpeg import FULL, jpeg_of, photograph

ROOT = Path(__file__).resolve().parents[2]
EMBEDDED = ROOT / "core" / "embedded"
RISC_V = "rv32imc"
CLASSES = 16
HEIGHT, WIDTH, FIRST, CUTS, CUT_STEP = 40, 36, 3, 2, 3
NAMES = ["red", "green", "red", "blue", "blue"]


def pictures() -> np.ndarray:
    rng = np.random.default_rng(5)
    colours = {"red": (200, 40, 40), "green": (40, 190, 50), "blue": (40, 60, 200)}
    plain = np.array([colours[name] for name in NAMES])[:, None, None, :]
    return np.clip(plain + rng.integers(-70, 71, (len(NAMES), HEIGHT, WIDTH, 3)), 0, 255).astype(np.uint8)


def exported_sizes(desk: Learner, classes: int = CLASSES) -> Sizes:
    """As `bitreplay export` has them for a device without vectors."""
    return sizes_of(image_of(desk), classes, native.footprint(program_of(desk)).packed_weights)


def program_of(desk: Learner) -> Program:
    assert desk.model is not None
    return programs_of(desk.model, desk.settings)["features"]


def model_assembly(image: Path) -> str:
    """The file's bytes between the symbols model and model_end, in the section .model."""
    return f"""\
    .section .model, "a"
    .balign 64
    .global model
    .global model_end
model:
    .incbin "{image}"
model_end:
    .byte 0
"""


def write_demo(desk: Learner, name: str = "exact", classes: int = CLASSES) -> Path:
    """The folder that an image is built from."""
    folder = ROOT / "build" / "mcu" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.bin").write_bytes(image_of(desk))
    (folder / "model.S").write_text(model_assembly(folder / "model.bin"))
    sizes = exported_sizes(desk, classes)
    write_changed(folder / "operations.h", operations_header(program_of(desk)))
    pixels = ",\n".join("{" + ",".join(map(str, picture.reshape(-1))) + "}" for picture in pictures())
    names = ", ".join(f'"{name}"' for name in [*NAMES, *sorted(set(NAMES))])
    (folder / "pictures.h").write_text(
        f"#define PICTURES {len(NAMES)}\n#define FIRST {FIRST}\n#define PICTURE_WIDTH {WIDTH}\n"
        f"#define PICTURE_HEIGHT {HEIGHT}\n#define LEARNER_BYTES {sizes.total}\n#define LEARNER_CLASSES {classes}\n"
        f"#define CUTS {CUTS}\n#define CUT_STEP {CUT_STEP}\n"
        f"static const unsigned char pictures[PICTURES][{HEIGHT * WIDTH * 3}] = {{\n{pixels}}};\n"
        f"static const char* const names[] = {{{names}}};\n"
    )
    frame = ", ".join(map(str, camera_frame()))
    (folder / "frame.h").write_text(f"static const unsigned char camera_frame[] = {{{frame}}};\n")
    return folder


def camera_frame() -> bytes:
    """What the camera of a board sends: a JPEG whose square has 30x30 pixels."""
    return jpeg_of(photograph().resize((320, 240)), quality=80, subsampling=FULL)


def write_changed(path: Path, text: str) -> None:
    """What has not changed is not built again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def build_image(demo: Path, cpu: str, *flags: str, target: str = "mcu_demo") -> Path:
    folder = ROOT / "build" / "mcu" / (cpu if demo.name == "exact" else f"{cpu}-{demo.name}")
    command: list[str | Path] = [
        "cmake",
        "-S",
        EMBEDDED,
        "-B",
        folder,
        "-G",
        "Ninja",
        f"-DBITREPLAY_CPU={cpu}",
        "-DBITREPLAY_MCU=ON",
    ]
    toolchain = EMBEDDED / ("riscv32.cmake" if cpu == RISC_V else "arm-none-eabi.cmake")
    command += [f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "--log-level=WARNING"]
    command += [f"-DBITREPLAY_MCU_DEMO={demo}", f"-DBITREPLAY_OPERATIONS={demo / 'operations.h'}"]
    command += flags
    again: list[str | Path] = ["cmake", "--build", folder, "--target", target]
    for step in (command, again):
        done = subprocess.run(step, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "mcu" / target


def sizes(image: Path) -> tuple[int, int]:
    """Bytes in flash and in RAM."""
    tool = "riscv64-unknown-elf-size" if RISC_V in image.parts else "arm-none-eabi-size"
    done = subprocess.run([tool, "-A", image], capture_output=True, text=True, check=True)
    sections = {name: int(size) for name, size in re.findall(r"^(\.\w+)\s+(\d+)", done.stdout, re.MULTILINE)}
    flash = sections[".vectors"] + sections[".text"] + sections[".data"]
    return flash, sections[".data"] + sections[".bss"] + sections[".stack"]


def code_bytes(image: Path) -> int:
    """In flash, but the model and what exact_demo.c and its pictures take, by the linker's map."""
    parts = linked(image).items()
    flash, _ = sizes(image)
    return flash - sum(count for (section, file), count in parts if section != "bss" and file in DEMO_OBJECTS)


DEMO_OBJECTS = ("exact_demo.c.obj", "model.S.obj")
ENTRY = re.compile(r"^ \.(\w+)[\w.$*]*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S+)$", re.MULTILINE)


def linked(image: Path) -> Counter[tuple[str, str]]:
    """Bytes by section and file."""
    text = image.with_suffix(".map").read_text()
    counts: Counter[tuple[str, str]] = Counter()
    for section, address, size, file in ENTRY.findall(text[text.index("Linker script and memory map") :]):
        if int(address, 16) and section in ("text", "rodata", "data", "model", "bss"):
            counts[section, file.rpartition("/")[2]] += int(size, 16)
    return counts
