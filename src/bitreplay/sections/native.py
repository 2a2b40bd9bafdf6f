"""Heads of sections by the core, and the sections of a file; by Python (reference.py) where there is no core."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

import numpy as np

from bitreplay.core import available
from bitreplay.core.interface import BR_OK, BR_SECTION_HEAD, br_section
from bitreplay.sections import reference
from bitreplay.sections.reference import FormError, Section

AT_ONCE = 64


def head(name: str, kind: int, shape: tuple[int, ...]) -> bytes:
    """What stands before the content of a section."""
    core = available()
    if core is None:
        return reference.head(name, kind, shape)
    text = name.encode("utf-8", "surrogatepass")
    fits = len(text) <= reference.MAX_NAME and b"\0" not in text and len(shape) <= reference.MAX_RANK
    section = br_section(type=kind, rank=len(shape), name=text if fits else b"")
    section.shape[:] = [*shape, *[1] * (reference.MAX_RANK - len(shape))] if fits else [1] * reference.MAX_RANK
    written = (ctypes.c_uint8 * BR_SECTION_HEAD)()
    size = core.br_section_head(ctypes.byref(section), written)
    if not size:
        raise FormError(f"Its section {name[:40]!r} cannot be.")
    return bytes(written[:size])


def sections(data: memoryview) -> Iterable[Section]:
    """All sections of a file's bytes; FormError if they are not in form."""
    core = available()
    if core is None:
        return list(reference.sections(data))
    bytes_ = np.frombuffer(data, np.uint8)
    room, count = AT_ONCE, ctypes.c_uint32()
    while True:
        found = (br_section * room)()
        code = core.br_state_sections(bytes_.ctypes.data, len(bytes_), found, room, ctypes.byref(count))
        if code != BR_OK:
            return list(reference.sections(data))  # it says in words what is wrong
        if count.value <= room:
            return [_of(each) for each in found[: count.value]]
        room = count.value


def _of(section: br_section) -> Section:
    shape = tuple(section.shape[: section.rank])
    return Section(section.name.decode(), section.type, shape, section.offset, section.size)
