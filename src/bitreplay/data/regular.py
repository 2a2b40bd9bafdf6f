"""Regular files alone: a pipe would wait for ever, a device never end, a link may lead to either."""

import os
import stat
from pathlib import Path

MAX_BYTES = 1 << 28
WAIT_FOR_NOBODY = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def is_regular(path: Path) -> bool:
    """Whether the path leads to a regular file."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def content_of(path: Path, most: int = MAX_BYTES) -> bytes:
    """All bytes of a regular file of at most `most`; anything else is refused in words that can follow its name.

    What the path led to when it was looked at need not be what is opened, so that is looked at again.
    """
    why = f"it is no file of at most {most} bytes"
    if not is_regular(path) and path.exists():
        raise ValueError("it is a folder" if path.is_dir() else why)
    try:
        with open(os.open(path, os.O_RDONLY | WAIT_FOR_NOBODY), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > most:
                raise ValueError(why)
            content = file.read(most + 1)
    except OSError as error:
        raise ValueError(error.strerror or type(error).__name__) from None
    if len(content) > most:
        raise ValueError(why)
    return content
