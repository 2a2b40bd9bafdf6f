"""A board of the desk: examples/boards/desk behind a pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def desk_board(program: Path, *words: str | Path) -> Iterator[str]:
    """The path of its serial port."""
    board_end, desk_end = os.openpty()
    try:
        with subprocess.Popen([program, *words], stdin=board_end, stdout=board_end) as process:
            try:
                yield os.ttyname(desk_end)
            finally:
                process.kill()
    finally:
        os.close(board_end)
        os.close(desk_end)
