"""The content of a state file of any format, from its bytes."""

from __future__ import annotations

from bitreplay.modelfile.container import ContainerError, DamagedFile, check_start
from bitreplay.sections import MAGIC, DamagedSections, FormError, unpack
from bitreplay.statefile import old
from bitreplay.statefile.content import Content, from_sections


def content_of(data: bytes | bytearray | memoryview, title: str, copy: bool = True) -> Content:
    """ContainerError for bytes that are no file, StateFileError for one that cannot be used."""
    if bytes(data[: len(MAGIC)]) != MAGIC:
        return old.from_bytes(data, title, copy)
    try:
        sections = unpack(data, title, copy)
    except DamagedSections as error:
        raise DamagedFile(str(error)) from None
    except FormError as error:
        raise ContainerError(str(error)) from None
    return from_sections(sections, title)


def checked_start(data: bytes, size: int, title: str) -> None:
    """Refuse, by its first bytes, a file that is no state: before all of it is read."""
    if data[: len(MAGIC)] != MAGIC:
        check_start(data, size, title)
