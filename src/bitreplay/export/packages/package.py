"""What a layout is made of: the files that all have, and what they are for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bitreplay
from bitreplay.export.targets import Board

EXAMPLES = Path(__file__).parents[1] / "boards"
TITLE = "Learns to tell pictures apart on the device, with a binary neural network"
ABOUT = "A learner with its model: teach it a class by a few pictures, it knows it at once and keeps the others."


@dataclass(frozen=True)
class Package:
    """`about` is export.json's content; `files` are the names that all layouts have."""

    about: dict[str, Any]
    board: Board
    target: str
    files: list[str]

    @property
    def compiled(self) -> list[str]:
        return [name for name in self.files if name.endswith((".c", ".cpp"))]


def version() -> str:
    """As these tools want it: three numbers."""
    return ".".join((bitreplay.__version__.split("+")[0].split(".") + ["0", "0"])[:3])


def examples(folder: str, place: str = "examples") -> dict[str, str]:
    """Files of examples/boards, by their place in a package."""
    if not (EXAMPLES / folder).is_dir():
        raise ValueError(f"The examples for boards are not here: {EXAMPLES}. Install bitreplay again.")
    paths = [path for path in sorted((EXAMPLES / folder).rglob("*")) if path.is_file()]
    return {f"{place}/{path.relative_to(EXAMPLES / folder).as_posix()}": path.read_text() for path in paths}
