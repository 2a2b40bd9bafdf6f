"""Read regular files only: a pipe could block for ever, a device never end, and a link may lead to either."""

import os
import stat
from pathlib import Path

MAX_BYTES = 1 << 28
NON_BLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def is_regular(path: Path) -> bool:
    """Whether the path is a regular file, or a link to one."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """All bytes of a regular file. The message of a ValueError follows the file's name in a sentence.

    The file is checked again once it is open, since the path may lead elsewhere by then.
    """
    why = f"it is not a file of at most {max_bytes} bytes"
    if not is_regular(path) and path.exists():
        raise ValueError("it is a folder" if path.is_dir() else why)
    try:
        with open(os.open(path, os.O_RDONLY | NON_BLOCKING), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > max_bytes:
                raise ValueError(why)
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise ValueError(error.strerror or type(error).__name__) from None
    if len(content) > max_bytes:
        raise ValueError(why)
    return content
