"""What was written is opened again from its bytes, as a stranger's file would be, before it replaces anything.

A state that nothing can load must never stand where one was that could be loaded, whatever wrote it: a program with a
mistake in it, a change that its parts do not allow, a disk that keeps other bytes than it was given. So this asks for
the same digest, and reads all of it with the reader that any file gets (content.py): names, counters, and arrays as far
as each part can check them. Files are mapped, not copied.
"""

from __future__ import annotations

import mmap
from pathlib import Path

from bitreplay.modelfile.container import ContainerError
from bitreplay.statefile.content import StateFileError
from bitreplay.statefile.reading import content_of
from bitreplay.statefile.revisions import checksum_in


def verify(path: Path, checksum: str) -> None:
    """StateFileError unless the file holds what was to be written, and a reader takes it."""
    try:
        with open(path, "rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        if checksum_in(data) != checksum:
            raise StateFileError("What was written is another state.")
        content_of(data, "What was written", copy=False)
    except (ContainerError, ValueError) as error:
        raise StateFileError(str(error)) from None
