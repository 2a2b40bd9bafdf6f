"""docs/boards.md's figures, from the table of targets and plans made of it."""

from __future__ import annotations

from bitreplay.export.targets import BOARDS, CORES
from bitreplay.planning.on_device import on_device
from bitreplay.settings import Settings
from bitreplay.zoo import find
from figures.committed import table

PAGE = "docs/boards.md"
NETWORK, CLASSES = "efficientnet_tiny", 4


def boards() -> str:
    """With 64 components and four classes on each."""
    settings, lines = Settings(strategy="exact", n_components=64), []
    for name, board in BOARDS.items():
        core, planned = CORES[board.core], on_device(find(NETWORK), settings, CLASSES, name)
        psram = f" + {board.psram >> 20} MB PSRAM" if board.psram else ""
        fits = "yes" if planned.ram <= board.ram else "in PSRAM" if planned.ram <= board.psram else "no"
        counted = "" if core.counted else ", not counted"
        lines.append(
            [
                f"`{name}`", board.title, f"{core.title}, {core.instruction_set}, {board.clock // 10**6} MHz",
                f"{board.flash >> 20} MB", f"{board.ram / 1e3:.0f} KB{psram}", f"{planned.flash / 1e3:.0f} KB",
                f"{planned.ram / 1e3:.0f} KB: {fits}", f"{planned.picture_instructions / 1e6:.0f} million{counted}",
                f"{planned.picture_seconds:.2g} s",
            ]
        )  # fmt: skip
    header = ["target", "board", "core, clock", "flash", "RAM in one piece", "flash taken", "RAM taken, fits"]
    return table([*header, "instructions of a picture", "estimate"], lines)
