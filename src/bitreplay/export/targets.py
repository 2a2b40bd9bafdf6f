"""What `bitreplay export` and `bitreplay plan` are for: one table of cores, and of boards that have them.

A core without vectors has counts of the learner in C with react_tiny at 32x32: `code` are the bytes of its code as a
share of a Cortex-M7's, `instructions` those that a picture takes, `whole` those of a product of a convolution that is
not binary, as they follow from efficientnet_tiny at 64x64. They come from images of tests/mcu, linked by gcc 12 with
-O2 and run under qemu, which compare them with this table. Xtensa was compiled and not run: its code is that of the
sources for an LX106 against rv32imc's, its instructions are rv32imc's.

A board's RAM is what a program may have in one piece, as its linker script has it, before anything else takes some of
it: of ESP-IDF the segment of data (dram0_0_seg, of the P4 sram_high beside a cache of 128 KB), of an STM32H743 its AXI
SRAM. `psram` is a second memory that such boards often have. Clocks are the highest ones of the data sheets.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Core:
    """`counted`: under qemu, on this instruction set."""

    title: str
    instruction_set: str
    code: float
    instructions: int
    whole: float
    counted: bool = True


@dataclass(frozen=True)
class Board:
    """`title` names a board that people buy; `flash` and `psram` are its."""

    title: str
    core: str
    clock: int
    flash: int
    ram: int
    psram: int = 0


CORES = {
    "cortex-m0plus": Core("Cortex-M0+", "ARMv6-M", 1.15, 541_500_000, 15.9),
    "cortex-m4": Core("Cortex-M4", "ARMv7E-M", 1.0, 145_400_000, 7.9),
    "cortex-m7": Core("Cortex-M7", "ARMv7E-M", 1.0, 144_400_000, 7.9),
    "cortex-m33": Core("Cortex-M33", "ARMv8-M", 1.0, 144_700_000, 7.9),
    "cortex-m55": Core("Cortex-M55", "ARMv8.1-M without MVE", 1.01, 141_200_000, 7.6),
    "rv32imc": Core("RISC-V", "RV32IMC", 1.27, 218_300_000, 10.8),
    "xtensa-lx6": Core("Xtensa LX6", "Xtensa", 1.58, 218_300_000, 10.8, counted=False),
    "xtensa-lx7": Core("Xtensa LX7", "Xtensa", 1.58, 218_300_000, 10.8, counted=False),
}
BOARDS = {
    "esp32": Board("ESP32-CAM", "xtensa-lx6", 240_000_000, 4 << 20, 0x2C200, 4 << 20),
    "esp32s3": Board("ESP32-S3-DevKitC", "xtensa-lx7", 240_000_000, 8 << 20, 0x53700, 8 << 20),
    "esp32c3": Board("ESP32-C3-DevKitM", "rv32imc", 160_000_000, 4 << 20, 0x4E710),
    "esp32p4": Board("ESP32-P4-Function-EV", "rv32imc", 400_000_000, 16 << 20, 0x60000, 32 << 20),
    "rp2040": Board("Raspberry Pi Pico", "cortex-m0plus", 133_000_000, 2 << 20, 264 << 10),
    "rp2350": Board("Raspberry Pi Pico 2", "cortex-m33", 150_000_000, 4 << 20, 520 << 10),
    "nrf52840": Board("Arduino Nano 33 BLE", "cortex-m4", 64_000_000, 1 << 20, 256 << 10),
    "stm32h7": Board("Arduino Giga, Portenta H7 (STM32H743 class)", "cortex-m7", 480_000_000, 2 << 20, 512 << 10),
}
TARGETS = ("linux", "wasm", *(name for name in CORES if not name.startswith("xtensa")), *BOARDS)


def core_of(target: str) -> Core | None:
    """The core without vectors of a target; none for linux and wasm."""
    check_target(target)
    return CORES.get(BOARDS[target].core if target in BOARDS else target)


def check_target(target: str) -> None:
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}.")
