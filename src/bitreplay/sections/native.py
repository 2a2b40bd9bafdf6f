"""Sections laid out by the core, the sections of a file, and marks; by Python (reference.py) where there is no core."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from bitreplay.core import available
from bitreplay.core.interface import BR_OK, BR_SECTION_ROOM, br_section
from bitreplay.sections import reference
from bitreplay.sections.reference import FormError, Head, Section

AT_ONCE = 64


def heads(sections: Sequence[Head]) -> list[bytes]:
    """What stands before the content of each of these sections, and last what stands behind all."""
    core = available()
    if core is None:
        return reference.heads(sections)
    laid_out = (br_section * len(sections))(*map(_to_core, sections))
    written, ends = np.empty(BR_SECTION_ROOM * len(sections), np.uint8), np.zeros(len(sections) + 1, np.uint64)
    if core.br_state_lay_out(laid_out, len(sections), 0, written.ctypes.data, ends.ctypes.data) != BR_OK:
        reference.heads(sections)  # it says in words what is wrong
        raise FormError("Its sections cannot be.")
    data, places = written.tobytes(), [0, *ends.tolist()]
    return [data[start:end] for start, end in pairwise(places)]


def _to_core(section: Head) -> br_section:
    name, kind, shape = section
    text = name.encode("utf-8", "surrogatepass")
    if len(text) > reference.MAX_NAME or b"\0" in text or len(shape) > reference.MAX_RANK:
        return br_section()  # no section
    lengths = (*shape, *(1,) * (reference.MAX_RANK - len(shape)))
    return br_section(shape=lengths, type=kind, rank=len(shape), name=text)


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


def mark_of(data: bytes, before: bytes = b"") -> int:
    """The first 8 bytes of the SHA-256 of both, `before` first."""
    core = available()
    if core is None:
        return reference.mark_of(data, before)
    return int(core.br_mark(before, len(before), data, len(data)))
